#pragma once

#include <exception>
#include <new>

#include "operator/plan/solver_crash.h"

namespace weft::controllers {

// Runs work that names workloads by `deciding`. An exception in it is a bug that would end each
// later try too, so it ends the process, as a crash on the workload that is named; without
// `deciding` it passes. Lack of memory says nothing about the workload: its name is taken back, and
// the exception passes.
template <typename Work>
auto RunSolver(const plan::Deciding& deciding, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    if (deciding) deciding(nullptr, plan::Solving::kNodes);
    throw;
  } catch (...) {
    if (!deciding) throw;
    std::terminate();  // says what was thrown
  }
}

// The same of work on one workload, which it names.
template <typename Work>
auto RunSolver(const plan::Deciding& deciding, const cluster::WorkloadView& workload,
               plan::Solving solving, const Work& work) {
  return RunSolver(deciding, [&] {
    if (deciding) deciding(&workload, solving);
    auto result = work();
    if (deciding) deciding(nullptr, solving);
    return result;
  });
}

}  // namespace weft::controllers
