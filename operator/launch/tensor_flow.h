#pragma once

#include "operator/launch/gang.h"

namespace weft::launch {

// TF_CONFIG for MultiWorkerMirroredStrategy: all workers' servers in order, and which one this is.
// Cost  O(workers) for each worker.
Environment TensorFlowEnvironment(const Gang& gang, std::uint32_t worker);

}  // namespace weft::launch
