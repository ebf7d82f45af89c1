#pragma once

#include <optional>
#include <string>

#include "operator/outlook/accelerators.h"
#include "operator/outlook/layout.h"

namespace weft::outlook {

// The share of the time for which a pipeline's stages wait: (p - 1) / (m v + p - 1), with m
// micro-batches in a step and v virtual stages.
// Source  Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", SC21.
double IdleShare(const Layout& layout);

// A change of a pipeline's settings, and the share of the time for which its stages then wait.
struct LessIdle {
  std::string text;  // "virtualPipeline: 2", "virtualPipeline: 2 and microBatchSize: 1"
  bool several = false;
  double share = 0;
  bool halves = false;  // the share is at most half of what it was
};

// The first change that halves the wait, in this order, of each kind the smallest: virtual stages,
// a smaller micro-batch, fewer stages (with more tensor parallelism, else more data parallelism),
// virtual stages with a smaller micro-batch, a global batch of up to four times the size, and that
// with virtual stages. If none halves it, the one that lessens it most; nothing if none lessens it.
//
// No change breaks a rule of refusals.h or traffic::CheckShape. With an accelerator, a layout that
// fits still fits, and one that does not fit needs no more memory.
// Cost  some hundred layouts of a microsecond or two.
std::optional<LessIdle> LessIdleOf(const Layout& layout, const Accelerator* accelerator = nullptr);

}  // namespace weft::outlook
