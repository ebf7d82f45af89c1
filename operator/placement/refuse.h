#pragma once

#include <string_view>

#include "operator/fabric/claims.h"
#include "operator/objective/request.h"
#include "operator/placement/placement.h"
#include "operator/traffic/worker_graph.h"

namespace weft::placement {

// Why Solve (place.h) found nothing.
Unplaceable Refuse(const fabric::Claims& claims, const objective::Request& request,
                   const traffic::WorkerGraph& graph, const objective::Options& options = {});
std::string_view ReasonName(Reason reason);

}  // namespace weft::placement
