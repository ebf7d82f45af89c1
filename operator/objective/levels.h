#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/units.h"
#include "operator/fabric/fabric.h"
#include "operator/objective/nodes.h"

namespace weft::objective {

class Instance;
struct Request;

// The objective, in one place: named levels, most important first. A later level decides only
// between placements that are equal in every earlier one; lower is better in each.
//
//   before the cost  kLevelsWider        levels by which the job is wider than topology.preferred
//                    kGroupsMissed       sets of workers that miss their group's preferred level
//   the cost         C(p); costs within the tolerance of the least count as equal
//   after the cost   kWorkersMoved       workers on nodes that the job's last attempt did not use,
//                                        then workers on another node than their own in that
//                                        attempt
//                    kRingSlowed         how much the smallest part of a ring slows it
//                                        (ring_rate.h)
//                    kWideBytes          share of the bytes between workers that leaves domains of
//                                        levels where this costs nothing extra (wide_bytes.h), by
//                                        level, widest first
//                    kFreeDomainsBroken  wholly free domains that the job uses, by tier, widest
//                                        first
//                    kSlotsLeft          free slots in the domains that it uses, in the same order
//   the names        names of the nodes, worker by worker
//
// The levels before the cost are evaluated for every candidate; the levels after it only for
// candidates with equal preferences and cost. A new level is one entry of an enum here and of a
// table in levels.cc (operator/docs/architecture.md, "A level of the objective").
enum BeforeCost : std::size_t { kLevelsWider, kGroupsMissed, kLevelsBeforeCost };
enum AfterCost : std::size_t {
  kWorkersMoved,
  kRingSlowed,
  kWideBytes,
  kFreeDomainsBroken,
  kSlotsLeft,
  kLevelsAfterCost
};

// The values of the levels before the cost, by BeforeCost.
using Preferences = std::array<std::uint32_t, kLevelsBeforeCost>;
// The values of the levels after the cost, by AfterCost; one list of numbers for each level.
using TieBreakers = std::array<std::vector<std::uint32_t>, kLevelsAfterCost>;

// The values that are compared before the tie breakers.
struct Objective {
  Preferences preferences{};
  Int128 cost = 0;  // C(p), femtoseconds

  friend auto operator<=>(const Objective&, const Objective&) = default;
};

// A placement with its values.
struct Candidate {
  ByWorker<fabric::NodeIndex> nodes;
  Preferences preferences{};
  Int128 cost = 0;

  Objective objective() const { return {preferences, cost}; }
};

Candidate Evaluate(const Instance& instance, ByWorker<fabric::NodeIndex> nodes);

// The values of a placement. The values of a partial placement are lower bounds for all of its
// completions; the exact search prunes by them.
//
// Cost  Prefer O(members of preferred groups + workers); BreakTies O(fabric nodes / 64 + nodes used
//       x tiers + seats of Request::ring + edges x free levels).
Preferences Prefer(const Instance& instance, Nodes nodes);
TieBreakers BreakTies(const Instance& instance, Nodes nodes);

// The narrowest tier at which `required` and the reached preferences keep the job in one domain.
fabric::Tier HomeTier(const Request& request, const Preferences& reached);

// Compares two placements of equal preferences and cost by the levels after the cost, then names.
// Of a partial placement, the names up to the first worker without a node are compared.
struct Tie {
  const TieBreakers* values;
  Nodes nodes;
};
std::strong_ordering CompareTies(const fabric::Fabric& fabric, const Tie& a, const Tie& b);

// The largest cost that counts as equal to `least`.
Int128 CostLimit(Int128 least, int tolerance_percent);

// The index in `candidates` of the best one by the whole objective. `candidates` must not be
// empty.
std::size_t Best(const Instance& instance, std::span<const Candidate> candidates,
                 int tolerance_percent);

// Puts a candidate behind those of `sorted` that are as good by preferences and cost.
void InsertInOrder(Candidate candidate, std::vector<Candidate>& sorted);

// Texts for people. Describe returns a sentence for each level that matters for the placement, most
// important first. WhyWorse names the first level in which `other` is worse than `chosen`, as the
// predicate of a sentence ("costs 14 % more (3.1 s of link time)").
std::vector<std::string> Describe(const Instance& instance, const Candidate& chosen);
std::string WhyWorse(const Instance& instance, const Candidate& other, const Candidate& chosen);

}  // namespace weft::objective
