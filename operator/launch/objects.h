#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/launch/gang.h"

namespace weft::launch {

// "<job>-<attempt>-<i>", i zero-padded to the width of the last worker's.
std::string PodName(const api::TrainingJob& job, std::int64_t attempt, std::uint32_t worker);

// The worker's Pod: the job's template, tied to its node by a required affinity term on
// metadata.name added to every term that the template has, with host name, labels, owner, the
// environment that its framework needs and the gang's files. kube-scheduler then looks at one node
// instead of all (DESIGN section 3).
// Precondition: gang.job->raw holds the object as the API server gave it.
nlohmann::json MakePod(const Gang& gang, std::uint32_t worker);

// The attempt's files, mounted in all its pods at /etc/weft. Never changed; owned by the
// Placement.
nlohmann::json MakeConfigMap(const Gang& gang);

// The headless Service <job>, which gives every worker of one attempt its DNS name before it is
// ready. A pod that an earlier attempt has left behind on a dead node has the same host name, and
// is not the Service's.
nlohmann::json MakeService(const api::TrainingJob& job, std::int64_t attempt);

// metadata.ownerReferences that tie an object's life to the job's.
nlohmann::json OwnedBy(const api::TrainingJob& job);

}  // namespace weft::launch
