#pragma once

#include <optional>
#include <string>

#include "operator/api/training_job.h"

namespace weft::life {

// A message if the job has too many workers for its framework, with the number that it may have.
// Only TensorFlow has a limit: its variable TF_CONFIG holds all addresses, and Linux limits a
// variable to 128 KiB (MAX_ARG_STRLEN, execve(2)), which is about 1,400 workers with the longest
// job names and 8,000 with the shortest.
// Cost  O(workers).
std::optional<std::string> TooManyWorkers(const api::TrainingJob& job);

// The bytes of TF_CONFIG in the environment of the last of `workers` workers.
std::size_t TensorFlowConfigBytes(const api::TrainingJob& job, std::uint32_t workers);

}  // namespace weft::life
