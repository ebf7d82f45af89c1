#pragma once

#include <cstddef>
#include <cstdint>

#include "operator/framework/traits.h"

namespace weft::framework {

// TF_CONFIG for MultiWorkerMirroredStrategy: the servers of all workers in order, and the index of
// this worker. Linux limits a variable to 128 KiB (MAX_ARG_STRLEN, execve(2)), so the number of
// workers has a limit: about 1,400 with the longest job names and 8,000 with the shortest.
// Cost  O(workers) for each worker.
const Traits& TensorFlowTraits();

// The bytes of TF_CONFIG in the environment of the last of `workers` workers.
std::size_t TensorFlowConfigBytes(const api::TrainingJob& job, std::uint32_t workers);

}  // namespace weft::framework
