#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/kinds.h"

namespace weft::launch {

// One worker of one attempt.
struct Worker {
  std::int64_t attempt = 1;
  std::uint32_t index = 0;
  std::string node;
};

// "<job>-<attempt>-<i>" and "<job>-<i>", i zero-padded to the width of the last worker's, so that
// host names sort as ranks do.
std::string PodName(const api::TrainingJob& job, const Worker& worker);
std::string HostName(const api::TrainingJob& job, std::uint32_t worker);

// The worker's Pod: the job's template, tied to its node by a required affinity term on
// metadata.name added to every term that the template has, with host name, labels, owner and the
// WEFT_* environment. kube-scheduler then looks at one node instead of all (DESIGN section 3).
// Precondition: job.raw holds the object as the API server gave it.
nlohmann::json MakePod(const api::TrainingJob& job, const Worker& worker);

// The headless Service <job>, which gives every worker its DNS name before it is ready.
nlohmann::json MakeService(const api::TrainingJob& job);

// metadata.ownerReferences that tie an object's life to the job's.
nlohmann::json OwnedBy(const api::TrainingJob& job);

}  // namespace weft::launch
