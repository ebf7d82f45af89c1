#pragma once

#include <vector>

#include "operator/fabric/spec.h"

namespace weft::rules {

// One nodeSelectorTerm: all expressions and all fields must hold. A term with neither matches no
// node, as in kube-scheduler.
struct NodeSelectorTerm {
  std::vector<fabric::SelectorExpression> match_expressions;
  std::vector<fabric::SelectorExpression> match_fields;  // key metadata.name only

  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

}  // namespace weft::rules
