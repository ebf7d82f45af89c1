#include "operator/fabric/incomplete.h"

namespace weft::fabric {

std::string Describe(const Inconsistency& found) {
  if (found.parent_a.empty()) {
    return found.level + ": nodes " + found.node_a + " and " + found.node_b +
           " are both at place " + found.value;
  }
  return "level " + found.level + ": \"" + found.value + "\" is under \"" + found.parent_a +
         "\" (node " + found.node_a + ") and under \"" + found.parent_b + "\" (node " +
         found.node_b + ")";
}

}  // namespace weft::fabric
