#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operator/base/units.h"
#include "operator/fabric/fabric.h"
#include "operator/objective/nodes.h"
#include "operator/objective/pair_cost.h"
#include "operator/traffic/traffic.h"

namespace weft::objective {

// The figures of one placement for people: Placement.status.traffic and status.spans.
struct Span {
  std::string level;
  std::uint32_t domains = 0;
};

struct Flow {
  traffic::Axis axis = traffic::Axis::kTensor;
  std::string level;  // carrier: the narrowest shared level, or a network beside the levels
  Int128 bytes = 0;
  Int128 crossed = 0;  // sum of bytes x links that each byte crosses: the hops of a torus, else 1
};

struct Uplink {
  std::string level, domain;
  Int128 bytes = 0;         // that leave the domain in one step
  double milliseconds = 0;  // bytes / (accelerators x rate of the next wider level)
};

struct AxisSpread {
  traffic::Axis axis = traffic::Axis::kTensor;
  std::string level;
  std::uint32_t domains = 0;  // that the most spread group uses
};

struct Scores {
  // Every tier except `outside`, widest first. A scale-up network that crosses the levels is listed
  // between the last level and the node.
  std::vector<Span> spans;
  std::vector<Flow> flows;  // bytes > 0; by axis, then level widest first
  Int128 cross_node_bytes = 0;
  std::optional<Uplink> busiest_uplink;
  std::vector<AxisSpread> spread;  // every axis with traffic, every tier but outside and the node
  double communication_milliseconds = 0;
};

// The scores of one placement, computed in exact integers until the final division.
//
// A byte counts on the link that carries it (PairCost::CarryingNetwork). It leaves every domain
// that holds its sender but not its receiver, unless a network beside the levels carries it.
// Domains of the levels and of a nested scale-up network have uplinks, nodes do not. Of equally
// busy uplinks, the one of the widest level and then of the least index is named.
//
// Shapes  nodes: one per worker of `traffic`. Without a traffic model only `spans` is filled.
// Cost    O(seats of all families x tiers); seats squared for all-to-all groups if the pair cost is
//         not hierarchical.
Scores Score(const PairCost& pair_cost, const traffic::Traffic& traffic, Nodes nodes);

}  // namespace weft::objective
