#pragma once

#include <vector>

#include "operator/fabric/level_groups.h"
#include "operator/fabric/torus.h"

namespace weft::fabric {

// The place of every candidate of a fabric with a torus. Candidates without a valid place (label
// absent, not a number, outside the torus) are put aside; in a torus that TorusSpec::shapes names,
// the label of a dimension of size 1 may be absent. If several candidates have the same place
// in one torus, only the first by name stays; the others are put aside and listed as an
// inconsistency.
//
// Shapes  `candidates` in ascending order of name; the result and `groups` are by candidate.
// Cost    O(candidates x log candidates).
std::vector<TorusPlace> PlaceInTorus(const FabricSpec& spec,
                                     const std::vector<const NodeFacts*>& candidates,
                                     LevelGroups& groups);

}  // namespace weft::fabric
