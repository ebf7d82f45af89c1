#pragma once

#include <functional>
#include <optional>
#include <span>

#include "operator/fabric/claims.h"
#include "operator/objective/request.h"
#include "operator/placement/placement.h"
#include "operator/traffic/worker_graph.h"

namespace weft::placement {

// Whether the workers may have rules between each other that depend on which nodes are used
// together: required affinity and anti-affinity, spreads, and a claim of all workers without a
// volume. Ports and channels limit each node by itself.
bool MayHaveWorkerRules(const objective::Request& request);

// One request on some pools; empty: on all. The members must outlive it.
struct PoolsProblem {
  const fabric::Claims& claims;
  const objective::Request& request;
  const traffic::WorkerGraph& graph;
  const objective::Options& options;
  std::span<const fabric::PoolIndex> pools;
};

// The request without rules between its workers, on the nodes that they leave in any case: each
// placement that keeps the rules is one of its placements, so that its bound is theirs.
objective::Request WithoutWorkerRules(const PoolsProblem& problem);

// Whether a placement on these nodes keeps the rules between the workers.
bool KeepsWorkerRules(const PoolsProblem& problem, const ByWorker<fabric::NodeIndex>& nodes);

// The best plan that keeps the rules between the workers.
//
// How      Branch and bound over parts of the slots. The first plan is that of the slots that
//          KeepApart leaves. Then the rules between workers are left out: with affinity to each
//          other each domain is a part of its own, else all slots are one. If the best plan of a
//          part keeps the rules, no other of the part is better. If it breaks one, the part is
//          divided so that each placement which keeps the rule is in a smaller part: of a domain
//          with too many workers one node that is used stays, or none; a spread has one part for
//          each way to divide the workers over its domains. Parts whose bound is not below the best
//          plan are left out. Nodes of one domain of each rule and of the narrowest level, which
//          are interchangeable, are not tried twice.
// Limits   A number of solves, fewer for large jobs and fabrics, of parts, fewer for large fabrics,
//          and of domains of an affinity. What is left then keeps the plan from being exact; its
//          bound counts.
// `solve`  the best plan for a request without rules between workers, or one whose rules KeepApart
//          keeps; on the same pools. Plan::preferences, cost, lower_bound and exact are used.
// Cost     up to 256 solves for a few workers, 8 for hundreds.
std::optional<Plan> SolveBetween(
    const PoolsProblem& problem,
    const std::function<std::optional<Plan>(const objective::Request&)>& solve);

}  // namespace weft::placement
