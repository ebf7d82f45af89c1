#pragma once

#include <functional>

#include "operator/fabric/claims.h"
#include "operator/objective/request.h"
#include "operator/placement/placement.h"
#include "operator/traffic/worker_graph.h"

namespace weft::placement {

// Among plans that are as good, one whose workers are on the most wanted nodes: with the least sum,
// over the workers, of how little their nodes are wanted (rules/unwanted.h). As good are plans of
// equal preferences, rank of products and cost within the tolerance.
//
// How      Solves again on fewer nodes (wanted_sets.h), and moves workers to nodes that are wanted
//          more (move_to_wanted.h). Neither is exhaustive: of small random jobs 97 to 99 % have
//          the least sum.
// `solve`  the best plan for a request, or nothing.
// Cost     nothing if all nodes of the plan are as wanted as any; else a solve for each halving of
//          the distinct values. If the sum is not the least then, MoveToWanted and 16 more solves
//          at most; of jobs above 256 workers, and with thorough effort, fewer, down to four.
Plan OnWantedNodes(const fabric::Claims& claims, const objective::Request& request,
                   const traffic::WorkerGraph& graph, const objective::Options& options, Plan plan,
                   const std::function<std::optional<Plan>(const objective::Request&)>& solve);

}  // namespace weft::placement
