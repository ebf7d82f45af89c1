#pragma once

#include <optional>
#include <string>

#include "operator/api/kinds.h"

namespace weft::life {

// Why a job has too many workers for its framework, and how many it may have. Only TensorFlow has a
// limit: its variable TF_CONFIG holds all addresses, and Linux limits a variable to 128 KiB
// (MAX_ARG_STRLEN, execve(2)). That is about 1,400 workers with the longest job names, 8,000 with
// the shortest. Cost O(workers).
std::optional<std::string> TooManyWorkers(const api::TrainingJob& job);

// The bytes of TF_CONFIG's entry in the environment for so many workers, of the last one.
std::size_t TensorFlowConfigBytes(const api::TrainingJob& job, std::uint32_t workers);

}  // namespace weft::life
