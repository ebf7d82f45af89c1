#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/api/training_job.h"

namespace weft::framework {

// The first container that has accelerators, else the first container; null if there is none.
nlohmann::json* WorkerContainer(const api::TrainingJob& job, nlohmann::json& spec);

}  // namespace weft::framework
