#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/outlook/accelerators.h"
#include "operator/outlook/layout.h"

namespace weft::outlook {

// Tensor parallelism beyond the GPUs of a usual node would leave the fastest network: no change
// goes further.
inline constexpr std::int64_t kMostTensor = 8;

// One to three settings that would make the job fit, and the memory per GPU with them.
struct Change {
  std::string text;  // "sharding: OptimizerState", "sharding: Full and microBatchSize: 1"
  double total = 0;
};

// The change that makes the job fit on the same GPUs and costs least time. It tries few settings
// before many, in this order: sharding, the micro-batch, recomputation, more tensor and pipeline
// parallelism, 16-bit gradients. It breaks no rule of refusals.h that the layout keeps. Nothing if
// the job fits already, or no change makes it fit. Cost  up to some thousand times MemoryOn.
std::optional<Change> SmallestChange(const Layout& layout, const Accelerator& accelerator);

}  // namespace weft::outlook
