#pragma once

#include <optional>

#include "operator/fabric/claims.h"
#include "operator/objective/request.h"
#include "operator/placement/placement.h"
#include "operator/traffic/worker_graph.h"

namespace weft::placement {

// Chooses each worker's node: hard rules first, then the levels of the objective
// (levels.h). The result is exact if the exact search finishes within its budget.
//
//   Solve   the plan, or nothing if there is none. Used for what-if questions.
//   Refuse  why Solve found nothing. Only called for refusals that are shown to somebody.
//   Place   Solve, then Refuse if there is no plan.
//
// Cost     Solve O(nodes + edges) per candidate, a bounded number of candidates; Refuse O(nodes)
//          and a greedy search on the empty fabric.
// Thread-safety  They only read their arguments.
std::optional<Plan> Solve(const fabric::Claims& claims, const objective::Request& request,
                          const traffic::WorkerGraph& graph,
                          const objective::Options& options = {});
Placement Place(const fabric::Claims& claims, const objective::Request& request,
                const traffic::WorkerGraph& graph, const objective::Options& options = {});

}  // namespace weft::placement
