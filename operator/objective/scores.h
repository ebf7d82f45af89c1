#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operator/base/units.h"
#include "operator/fabric/fabric.h"
#include "operator/objective/pair_cost.h"
#include "operator/traffic/traffic.h"

namespace weft::placement {

// The figures of one placement for people: Placement.status.traffic and status.spans.
struct Span {
  std::string level;
  std::uint32_t domains = 0;
};

struct Flow {
  traffic::Axis axis = traffic::Axis::kTensor;
  std::string level;  // where the bytes run: the narrowest shared level, or the scale-up network
  Int128 bytes = 0;
};

struct Uplink {
  std::string level, domain;
  Int128 bytes = 0;         // leaving the domain in one step
  double milliseconds = 0;  // bytes / (accelerators x rate of the next wider level)
};

struct AxisSpread {
  traffic::Axis axis = traffic::Axis::kTensor;
  std::string level;
  std::uint32_t domains = 0;  // of the worst group
};

struct Scores {
  // Every tier but outside, widest first; a scale-up network that crosses the levels is between the
  // last level and the node.
  std::vector<Span> spans;
  std::vector<Flow> flows;  // bytes > 0; by axis, then level widest first
  Int128 cross_node_bytes = 0;
  std::optional<Uplink> busiest_uplink;
  std::vector<AxisSpread> spread;  // every axis that sends, every tier but outside and the node
  double communication_milliseconds = 0;
};

// The scores of one placement, in exact integers up to the last division.
//
// A byte counts on the link that carries it (PairCost::CarryingTier), and leaves every domain that
// holds its sender and not its receiver, unless a scale-up network that crosses the levels carries
// it. Uplinks belong to domains of the levels and of a nested scale-up network, not to nodes; of
// equally busy uplinks the one of the widest level and least index is named.
//
// Shapes  nodes: one per worker of `traffic`. Unmodelled traffic gives spans alone.
// Cost    O(seats of all families x tiers); seats squared for all-to-all groups where the pair cost
//         is not hierarchical.
Scores Score(const PairCost& pair_cost, const traffic::Traffic& traffic,
             std::span<const fabric::NodeIndex> nodes);

}  // namespace weft::placement
