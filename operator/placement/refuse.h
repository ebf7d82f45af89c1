#pragma once

#include <string_view>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/objective/request.h"
#include "operator/placement/placement.h"
#include "operator/traffic/worker_graph.h"

namespace weft::placement {

// Why Solve (place.h) found nothing.
Unplaceable Refuse(const fabric::Claims& claims, const objective::Request& request,
                   const traffic::WorkerGraph& graph, const objective::Options& options = {});
std::string_view ReasonName(Reason reason);

// For each of the request's choices of pools, how many workers fit.
// Cost  like CountSlots.
std::vector<PoolRoom> RoomsOf(const fabric::Claims& claims, const objective::Request& request,
                              const objective::Options& options);

}  // namespace weft::placement
