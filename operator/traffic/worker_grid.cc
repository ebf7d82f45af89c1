#include "operator/traffic/worker_grid.h"

#include <array>

namespace weft::traffic {

std::vector<std::uint32_t> WorkerGrid(const Parallelism& parallelism, std::uint32_t workers,
                                      std::uint32_t per_worker) {
  if (workers <= 1) return {};
  const std::uint64_t ranks = static_cast<std::uint64_t>(workers) * per_worker;
  const std::uint64_t fixed = static_cast<std::uint64_t>(parallelism.tensor) *
                              static_cast<std::uint64_t>(parallelism.context) *
                              static_cast<std::uint64_t>(parallelism.pipeline);
  if (fixed == 0 || ranks % fixed != 0) return {workers};

  std::vector<std::uint32_t> grid;
  std::uint64_t inside = per_worker;  // ranks of a worker that no axis so far accounts for
  for (Axis axis : parallelism.rank_order) {
    std::uint64_t degree = ranks / fixed;
    if (axis == Axis::kTensor) degree = static_cast<std::uint64_t>(parallelism.tensor);
    if (axis == Axis::kContext) degree = static_cast<std::uint64_t>(parallelism.context);
    if (axis == Axis::kPipeline) degree = static_cast<std::uint64_t>(parallelism.pipeline);
    if (inside % degree == 0) {
      inside /= degree;
      continue;
    }
    if (degree % inside != 0) return {workers};
    grid.push_back(static_cast<std::uint32_t>(degree / inside));
    inside = 1;
  }
  return grid;
}

}  // namespace weft::traffic
