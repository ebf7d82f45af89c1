#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/result.h"
#include "operator/base/worker_index.h"
#include "operator/traffic/spec.h"

namespace weft::traffic {

// The sets of workers that a topology group keeps in one domain. The groups of the given axes
// connect ranks; a set is the workers of one connected component. Only the degrees matter: an axis
// may send nothing, and a model may be missing. Each set ascends, equal sets are listed once, and
// sets are in order of their least worker.
//
// Shapes   CSR: set s is workers[begin[s], begin[s + 1]).
struct WorkerSets {
  std::vector<std::uint32_t> begin = {0};
  std::vector<WorkerIndex> workers;

  std::size_t size() const { return begin.size() - 1; }
  std::span<const WorkerIndex> set(std::size_t s) const {
    return std::span(workers).subspan(begin[s], begin[s + 1] - begin[s]);
  }
};
Result<WorkerSets> GroupWorkers(std::span<const Axis> axes, const Parallelism& parallelism,
                                std::uint32_t workers, std::uint32_t per_worker);

}  // namespace weft::traffic
