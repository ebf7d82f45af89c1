#pragma once

#include "operator/base/worker_index.h"
#include "operator/fabric/fabric.h"

namespace weft::objective {

// The node of each worker. In a partial placement, workers without a node have kUnplaced.
using Nodes = IndexSpan<WorkerIndex, const fabric::NodeIndex>;
inline constexpr fabric::NodeIndex kUnplaced{~0U};

}  // namespace weft::objective
