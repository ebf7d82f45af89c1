#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/api/training_job.h"

namespace weft::framework {

// Whether resources.claims of the container names api::kAcceleratorClaim.
bool NamesAcceleratorClaim(const nlohmann::json& container);

// Whether the container has accelerators of the job: a limit of the resource, or the claim.
bool HasAccelerators(const api::TrainingJob& job, const nlohmann::json& container);

// The first container that has accelerators, else the first container; null if there is none.
nlohmann::json* WorkerContainer(const api::TrainingJob& job, nlohmann::json& spec);

}  // namespace weft::framework
