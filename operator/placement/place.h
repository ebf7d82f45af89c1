#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "operator/base/units.h"
#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"
#include "operator/objective/levels.h"
#include "operator/objective/request.h"
#include "operator/rules/node_judge.h"
#include "operator/traffic/worker_graph.h"

namespace weft::placement {

// Room of a choice of pools for a job.
struct PoolRoom {
  std::string name;
  std::uint64_t workers = 0;  // that fit, whatever topology asks
  bool solved = false;        // a placement was found on it
};

struct Plan {
  std::vector<fabric::NodeIndex> nodes;  // index = worker
  Preferences preferences{};
  Int128 cost = 0;  // C(p), femtoseconds
  // Proven: no placement on this capacity, under the same hard rules and the same preferences,
  // costs less.
  Int128 lower_bound = 0;
  bool exact = false;                    // the search was exhaustive
  std::vector<fabric::PoolIndex> pools;  // that it was chosen from; empty: all
  std::vector<PoolRoom> choices;         // of Request::pool_choices, where there are several
  std::size_t choice = 0;                // index into it
  Candidate candidate() const { return {nodes, preferences, cost}; }
  std::optional<Candidate> runner_up;  // the best seen that uses another set of nodes
};

enum class Reason : std::uint8_t {
  kNoCompleteNode,        // no node carries all labels
  kNoMatchingProduct,     // no node is of a product and capacity type that the job names
  kNoEligibleNode,        // filters leave nothing
  kInsufficientCapacity,  // too few slots in all
  kRequiredLevel,         // enough slots, but not inside one domain of `required`
  kRequiredGroup,         // enough slots, but a group's `required` cannot be met
  kSearchExhausted,       // the bounded search found none; none is proven impossible
};
std::string_view ReasonName(Reason reason);

// A refusal, which also says whether waiting can help.
struct Unplaceable {
  Reason reason = Reason::kInsufficientCapacity;
  bool ever = true;                      // false: not even with nothing else running on the fabric
  fabric::Tier tier = fabric::kOutside;  // the level the rule names
  std::string best_domain;               // of that level, the one with most room
  std::int64_t best_domain_workers = 0;  // that fit there
  std::int64_t wanted_workers = 0;
  std::int64_t found_workers = 0;  // that fit under the rule
  // kRequiredGroup: index into Request.groups of a group that cannot hold even alone, and the
  // workers of its largest set; absent where each could alone, but not all of them together.
  std::optional<std::size_t> group;
  std::int64_t group_workers = 0;
  // kInsufficientCapacity, kRequiredLevel: the resource that is short on most nodes, and how much
  // of it is missing.
  std::string short_resource;
  std::int64_t short_amount = 0;
  std::vector<RejectionCount> rejections;  // most first
  // Where the job may run on one of several choices of pools: what each has, and which of them the
  // rest is about; absent: all of them.
  std::vector<PoolRoom> choices;
  std::optional<std::size_t> choice;
};

using Placement = std::variant<Plan, Unplaceable>;

// Chooses each worker's node (DESIGN section 4): hard rules; then the levels of the objective
// (levels.h). Exact where the exact search finishes within its budget.
//
//   Solve   the plan; nothing where none was found. Used for what-if questions. Refuse why
//   Solve found nothing. Only for refusals that are shown to somebody. Place Solve, else
//   Refuse.
//
// Cost     Solve O(nodes + edges) per candidate, a bounded number of candidates; Refuse O(nodes)
//          and a greedy search on the empty fabric.
// Thread-safety  they read their arguments only.
std::optional<Plan> Solve(const fabric::Claims& claims, const Request& request,
                          const traffic::WorkerGraph& graph, const Options& options = {});
Unplaceable Refuse(const fabric::Claims& claims, const Request& request,
                   const traffic::WorkerGraph& graph, const Options& options = {});
Placement Place(const fabric::Claims& claims, const Request& request,
                const traffic::WorkerGraph& graph, const Options& options = {});

// Which single constraint, relaxed, would let an unplaceable job start now, and at what cost.
struct Relaxation {
  std::string
      constraint;      // "topology.required", "topology.groups[0].required", "nodeSelector", ...
  std::string change;  // "leaf -> spine", "removed"
  Int128 cost = 0;
  Preferences preferences{};
  std::vector<fabric::NodeIndex> nodes;
};
std::vector<Relaxation> FindRelaxations(const fabric::Claims& claims, const Request& request,
                                        const traffic::WorkerGraph& graph,
                                        const Options& options = {});

}  // namespace weft::placement
