#include "operator/controllers/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace weft::controllers {
namespace {

Error Of(ErrorKind kind) { return {kind, "no"}; }

TEST(ForEach, CallsOncePerIndex) {
  std::vector<std::atomic<int>> calls(16'384);
  ForEach(run::SystemExecutor(), calls.size(), 16, [&](std::size_t i) { return ++calls[i] == 1; });
  for (const auto& one : calls) EXPECT_EQ(one, 1);
}

// As after SIGTERM: every write fails at once, and nobody waits for 16,384 of them.
TEST(Failures, ABatchEndsWhereNothingIsAnswered) {
  std::atomic<int> calls{0};
  Failures failures;
  ForEach(run::SystemExecutor(), 16'384, 8, [&](std::size_t) {
    ++calls;
    return failures.GoOnAfter(Of(ErrorKind::kTransient));
  });
  EXPECT_LE(calls, static_cast<int>(Failures::kMost) + 8);
  ASSERT_TRUE(failures.first());
  EXPECT_EQ(failures.first()->kind, ErrorKind::kTransient);
}

TEST(Failures, ARefusedObjectDoesNotHoldTheOthersUp) {
  int calls = 0;
  Failures failures;
  ForEach(run::SystemExecutor(), 100, 1, [&](std::size_t i) {
    ++calls;
    return failures.GoOnAfter(i % 2 == 0 ? Status(Of(ErrorKind::kInvalid)) : Status());
  });
  EXPECT_EQ(calls, 100);
  EXPECT_TRUE(failures.first());
}

}  // namespace
}  // namespace weft::controllers
