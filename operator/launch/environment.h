#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "operator/launch/objects.h"

namespace weft::launch {

using Environment = std::vector<std::pair<std::string, std::string>>;

// What every worker is told, whatever its framework:
//   WEFT_JOB, WEFT_NAMESPACE, WEFT_ATTEMPT   which gang this is
//   WEFT_WORKERS, WEFT_WORKER_INDEX          its size, and the node rank
//   WEFT_GPUS_PER_WORKER, WEFT_WORLD_SIZE    ranks here, and in all
//   WEFT_FIRST_RANK                          the first rank of this worker
//   WEFT_NODE                                where it was placed
//   WEFT_MASTER_ADDR                         DNS name of worker 0
Environment WorkerEnvironment(const api::TrainingJob& job, const Worker& worker);

// Sets the variables in every container and init container of a pod's spec, in front of the
// template's own, so that those may refer to them; a variable of the same name in the template is
// replaced.
void AddEnvironment(const Environment& environment, nlohmann::json& spec);

}  // namespace weft::launch
