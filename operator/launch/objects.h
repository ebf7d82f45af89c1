#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/base/worker_index.h"
#include "operator/launch/gang.h"

namespace weft::launch {

// "<job>-<attempt>-<i>", with i zero-padded to the width of the last worker's number.
std::string PodName(const api::TrainingJob& job, std::int64_t attempt, WorkerIndex worker);

// The worker's Pod: the job's template with host name, labels, owner, the environment of its
// framework and the gang's files. A required affinity on metadata.name, added to every term of
// the template, pins it to its node, so kube-scheduler looks at one node instead of all.
//
// Precondition  gang.job->raw is the object as the API server sent it.
nlohmann::json MakePod(const Gang& gang, WorkerIndex worker);

// The headless Service <job>, which gives every worker of one attempt its DNS name before it is
// ready. It does not select pods of earlier attempts, which may remain on a dead node with the same
// host name. Nothing owns it: the operator deletes it when the attempt's pods have ended, because
// the garbage collector would do so while they still store their state (life::IsOfJob).
nlohmann::json MakeService(const api::TrainingJob& job, std::int64_t attempt);

}  // namespace weft::launch
