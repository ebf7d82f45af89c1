#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "operator/base/units.h"
#include "operator/fabric/fabric.h"
#include "operator/objective/levels.h"
#include "operator/rules/node_judge.h"

namespace weft::placement {

// How much room a choice of pools has for a job.
struct PoolRoom {
  std::string name;
  std::uint64_t workers = 0;  // that fit, ignoring topology rules
  bool solved = false;        // a placement was found on these pools
};

struct Plan {
  ByWorker<fabric::NodeIndex> nodes;
  objective::Preferences preferences{};
  Int128 cost = 0;  // C(p), femtoseconds
  // Proven: every placement on this capacity with the same hard rules and the same preferences
  // costs at least this.
  Int128 lower_bound = 0;
  bool exact = false;                    // the search was exhaustive
  std::vector<fabric::PoolIndex> pools;  // pools that nodes were chosen from; empty: all
  std::vector<PoolRoom> choices;         // of Request::pool_choices, if there are several
  std::size_t choice = 0;                // index into `choices`
  objective::Candidate candidate() const { return {nodes, preferences, cost}; }
  std::optional<objective::Candidate> runner_up;  // the best found on another set of nodes
};

enum class Reason : std::uint8_t {
  kNoCompleteNode,        // no node carries all labels
  kNoMatchingProduct,     // no node has a product and capacity type that the job allows
  kNoEligibleNode,        // the filters reject every node
  kInsufficientCapacity,  // too few slots in total
  kRequiredLevel,         // enough slots, but not inside one domain of `required`
  kRequiredGroup,         // enough slots, but a group's `required` cannot be met
  kSearchExhausted,       // the search ended without a placement; one may exist
};

// A refusal, which also says whether waiting can help.
struct Unplaceable {
  Reason reason = Reason::kInsufficientCapacity;
  bool ever = true;  // false: the job would not fit even on an empty fabric
  // false: nor if every node of it were usable, not cordoned and not excluded
  bool ever_when_healthy = true;
  fabric::Tier tier = fabric::kOutside;  // the level that the rule names
  std::string best_domain;               // the domain of that level with the most room
  std::int64_t best_domain_workers = 0;  // that fit in it
  std::int64_t wanted_workers = 0;
  std::int64_t found_workers = 0;  // that fit if the rule is met
  // kRequiredGroup: index into Request.groups of a group whose `required` cannot be met even alone,
  // and the workers of its largest set; absent if each can be met alone, but not all together.
  std::optional<std::size_t> group;
  std::int64_t group_workers = 0;
  // kInsufficientCapacity, kRequiredLevel: the resource that most nodes have too little of, and the
  // missing amount.
  std::string short_resource;
  std::int64_t short_amount = 0;
  // The same: why a node or domain takes fewer workers than its resources allow, if the job would
  // fit otherwise ("a node takes one worker, ..."); "" if resources are short.
  std::string apart;
  std::vector<rules::RejectionCount> rejections;  // most nodes first
  // If the job allows several choices of pools: the room of each, and the index of the choice that
  // the other members describe; absent: they describe all choices.
  std::vector<PoolRoom> choices;
  std::optional<std::size_t> choice;
};

using Placement = std::variant<Plan, Unplaceable>;

}  // namespace weft::placement
