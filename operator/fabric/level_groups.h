#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operator/fabric/incomplete.h"
#include "operator/fabric/node_facts.h"
#include "operator/fabric/spec.h"

namespace weft::fabric {

inline constexpr std::uint32_t kNoGroup = ~std::uint32_t{0};

// The candidates (the selected nodes, in order of name), partitioned by one label.
struct Groups {
  std::vector<std::uint32_t> of_node;  // by candidate; kNoGroup if it is put aside
  std::vector<std::string> names;      // by group
};

// The candidates grouped at every level, and what is wrong with their labels.
struct LevelGroups {
  std::vector<Groups> levels;              // widest first
  std::vector<bool> aside;                 // by candidate: incomplete, so not in the fabric
  std::vector<int> rails;                  // by candidate; empty if rails have no label keys
  std::vector<IncompleteNode> incomplete;  // by node name
  std::vector<Inconsistency> inconsistencies;
  std::vector<UnlabelledKind> unlabelled;  // by kind
};

// Groups are numbered by their first candidate. One value (identity kValue) under two parents is an
// inconsistency: the parent with the most nodes (on a tie, the least name) keeps its nodes, and the
// nodes of the other parents are put aside.
//
// The nodes of a kind that lacks the narrowest levels (unlabelled_kinds.h) share one domain of each
// of these, named "unlabelled-KIND"; under a labelled domain, "PARENT/unlabelled-KIND".
//
// Shapes  `candidates` in ascending order of name.
// Cost    O(candidates * levels), plus O(k log k) for k nodes in inconsistent domains.
LevelGroups GroupByLevels(const FabricSpec& spec, const std::vector<const NodeFacts*>& candidates);

// Groups by one label, independent of the levels. A node without the label is a group of its own,
// with the node's name. Nodes that were put aside are in no group.
Groups GroupByLabel(const std::string& label_key, const std::vector<const NodeFacts*>& candidates,
                    const std::vector<bool>& aside);

}  // namespace weft::fabric
