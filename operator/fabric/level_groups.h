#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operator/fabric/fabric.h"

namespace weft::fabric {

inline constexpr std::uint32_t kNoGroup = ~std::uint32_t{0};

// One partition of the candidates (the selected nodes by name) by a label.
struct Groups {
  std::vector<std::uint32_t> of_node;  // by candidate; kNoGroup for a node put aside
  std::vector<std::string> names;      // by group
};

// The candidates, level by level, and what is wrong with their labels.
struct LevelGroups {
  std::vector<Groups> levels;              // widest first
  std::vector<bool> aside;                 // by candidate: incomplete, not in the fabric
  std::vector<int> rails;                  // by candidate; empty where rails have no label keys
  std::vector<IncompleteNode> incomplete;  // by node name
  std::vector<Inconsistency> inconsistencies;
};

// Groups are numbered by their first candidate. A value of identity Value under two parents is an
// inconsistency: the side with the most nodes (on a tie, of the least parent name) stays, the
// others are put aside.
//
// Shapes  `candidates` in ascending order of name.
// Cost    O(candidates * levels) plus O(k log k) for k nodes of inconsistent domains.
LevelGroups GroupByLevels(const FabricSpec& spec, const std::vector<const NodeFacts*>& candidates);

// Groups by the scale-up label, independent of the levels; a node without the label is a group of
// its own, named like the node. Nodes that were put aside are in no group.
Groups GroupByScaleUp(const ScaleUpSpec& scale_up, const std::vector<const NodeFacts*>& candidates,
                      const std::vector<bool>& aside);

}  // namespace weft::fabric
