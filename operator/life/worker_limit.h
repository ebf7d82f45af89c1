#pragma once

#include <optional>
#include <string>

#include "operator/api/kinds.h"

namespace weft::life {

// Why a job has more workers than its framework can be told of, and how many would do. TensorFlow
// alone is told all addresses in one variable, TF_CONFIG, and Linux starts no program with a longer
// string than 128 KiB (MAX_ARG_STRLEN, execve(2)): about 1,400 workers with the longest job names,
// 8,000 with the shortest. Cost  O(workers).
std::optional<std::string> TooManyWorkers(const api::TrainingJob& job);

// The bytes of TF_CONFIG's entry in the environment for so many workers, of the last one.
std::size_t TensorFlowConfigBytes(const api::TrainingJob& job, std::uint32_t workers);

}  // namespace weft::life
