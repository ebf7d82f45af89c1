#pragma once

#include "operator/launch/gang.h"

namespace weft::launch {

// TF_CONFIG for MultiWorkerMirroredStrategy: the servers of all workers in order, and the index of
// this worker.
// Cost  O(workers) for each worker.
Environment TensorFlowEnvironment(const Gang& gang, std::uint32_t worker);

}  // namespace weft::launch
