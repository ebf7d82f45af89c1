#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/api/training_job.h"
#include "operator/launch/gang.h"

namespace weft::launch {

// Parts of the metadata of the objects of a job.

// metadata.ownerReferences with the job, so that the object is deleted with it.
nlohmann::json OwnedBy(const api::TrainingJob& job);

// metadata.ownerReferences with the attempt's Placement, so that the object is deleted with it.
nlohmann::json OwnedByPlacement(const Gang& gang);

// Labels that name the job.
nlohmann::json JobLabels(const api::TrainingJob& job);

}  // namespace weft::launch
