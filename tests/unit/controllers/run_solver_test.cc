#include "operator/controllers/run_solver.h"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>

namespace weft::controllers {
namespace {

TEST(RunSolverTest, NamesTheWorkloadAndTakesTheNameBack) {
  const cluster::WorkloadView workload;
  const cluster::WorkloadView* named = nullptr;
  const plan::Deciding deciding = [&](const cluster::WorkloadView* one, plan::Solving) {
    named = one;
  };
  const auto run = [&](const auto& work) {
    return RunSolver(deciding, workload, plan::Solving::kFigures, work);
  };
  EXPECT_EQ(run([&] { return named; }), &workload);
  EXPECT_EQ(named, nullptr);
  EXPECT_THROW(run([]() -> int { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_EQ(named, nullptr);
  EXPECT_EXIT(run([]() -> int { throw std::logic_error("a bug"); }),
              ::testing::KilledBySignal(SIGABRT), "");
  EXPECT_THROW(RunSolver({}, []() -> int { throw std::logic_error("a bug"); }), std::logic_error);
}

}  // namespace
}  // namespace weft::controllers
