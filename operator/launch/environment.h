#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/launch/gang.h"

namespace weft::launch {

inline constexpr const char* kFilesFolder = "/etc/weft";

// Variables of every worker, with any framework:
//   WEFT_JOB, WEFT_NAMESPACE, WEFT_ATTEMPT   which gang this is
//   WEFT_WORKERS, WEFT_WORKER_INDEX          its size, and the node rank
//   WEFT_GPUS_PER_WORKER, WEFT_WORLD_SIZE    ranks here, and in all
//   WEFT_FIRST_RANK                          the first rank of this worker
//   WEFT_NODE                                where it was placed
//   WEFT_HOST                                its DNS name
//   WEFT_MASTER_ADDR, WEFT_MASTER_PORT       DNS name of worker 0, and a port there
//   WEFT_PLACEMENT_FILE                      the whole placement (gang.h)
//   WEFT_DOMAIN_<LEVEL>                      the node's domain of that level, as in
//                                            WEFT_DOMAIN_LEAF; other characters become '_'
Environment WorkerEnvironment(const Gang& gang, std::uint32_t worker);

// Sets the variables in every container and init container of a pod's spec, in front of the
// template's own, so that those may refer to them. A variable of the same name in the template is
// replaced by one of `environment`, and replaces one of `defaults`.
void AddEnvironment(const Environment& environment, const Environment& defaults,
                    nlohmann::json& spec);

}  // namespace weft::launch
