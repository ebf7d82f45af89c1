#pragma once

#include <optional>
#include <string>

#include "operator/outlook/layout.h"

namespace weft::outlook {

// One to three settings with which the job would fit, and how much a GPU would hold then.
struct Change {
  std::string text;  // "sharding: OptimizerState", "sharding: Full and microBatchSize: 1"
  double total = 0;
};

// The change that costs least time, of those that make the job fit on as many GPUs: sharding, the
// micro-batch, recomputation, then more tensor and pipeline parallelism; the fewest settings first.
// Nothing where it fits already or where no such change would do.
// Cost  up to some thousand times MemoryPerGPU.
std::optional<Change> SmallestChange(const Layout& layout, double capacity);

}  // namespace weft::outlook
