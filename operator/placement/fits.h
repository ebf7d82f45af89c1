#pragma once

#include "operator/fabric/claims.h"
#include "operator/objective/request.h"
#include "operator/traffic/worker_graph.h"

namespace weft::placement {

// Whether Solve finds a plan, without searching for a good one.
//
// How   A job without groups fits if one domain of its required level has slots for all workers.
//       With groups, or rules between workers, the greedy search alone decides.
// Cost  without these O(nodes x requested resources) for each choice of pools; with them
//       searches at quick effort.
bool Fits(const fabric::Claims& claims, const objective::Request& request,
          const traffic::WorkerGraph& graph, const objective::Options& options = {});

}  // namespace weft::placement
