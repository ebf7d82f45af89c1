#pragma once

#include <optional>
#include <string>

#include "operator/api/training_job.h"

namespace weft::life {

// A message if the job has too many workers for its framework, with the number that it may have.
// Cost  O(workers).
std::optional<std::string> TooManyWorkers(const api::TrainingJob& job);

}  // namespace weft::life
