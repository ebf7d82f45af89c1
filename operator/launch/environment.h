#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/base/worker_index.h"
#include "operator/launch/gang.h"

namespace weft::launch {

// The environment variables of every worker, for all frameworks:
//   WEFT_JOB, WEFT_NAMESPACE, WEFT_ATTEMPT   identify the gang
//   WEFT_WORKERS, WEFT_WORKER_INDEX          number of workers, node rank
//   WEFT_GPUS_PER_WORKER, WEFT_WORLD_SIZE    ranks in this worker, and in all
//   WEFT_FIRST_RANK                          the first rank of this worker
//   WEFT_NODE                                the worker's node
//   WEFT_HOST                                the worker's DNS name
//   WEFT_MASTER_ADDR, WEFT_MASTER_PORT       DNS name and a port of worker 0
//   WEFT_PLACEMENT_FILE                      the whole placement (gang.h)
//   WEFT_DOMAIN_<LEVEL>                      the node's domain of that level, as in
//                                            WEFT_DOMAIN_LEAF; other characters become '_'
Environment WorkerEnvironment(const Gang& gang, WorkerIndex worker);

// Sets the variables in every container and init container of a pod's spec, before the template's
// own, so that these may refer to them. `environment` overrides variables of the template; the
// template overrides `defaults`.
void AddEnvironment(const Environment& environment, const Environment& defaults,
                    nlohmann::json& spec);

// Adds an option, "<option>=<value>", to the container's variable of that name: before the options
// that the template sets there. The template's variable stays as it is if it sets this option, or
// if its value is taken from elsewhere (valueFrom).
void AddOptions(const Environment& options, nlohmann::json& container);

}  // namespace weft::launch
