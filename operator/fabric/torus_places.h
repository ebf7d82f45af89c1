#pragma once

#include <vector>

#include "operator/fabric/level_groups.h"
#include "operator/fabric/torus.h"

namespace weft::fabric {

// The place of every candidate of a fabric with a torus. Candidates whose labels name none (absent,
// no number, outside the torus) are put aside, and so are all but the first by name of those that
// name the same place of the same torus, which is an inconsistency.
//
// Shapes  `candidates` in ascending order of name; the result and `groups` by candidate.
// Cost    O(candidates x log candidates).
std::vector<TorusPlace> PlaceInTorus(const FabricSpec& spec,
                                     const std::vector<const NodeFacts*>& candidates,
                                     LevelGroups& groups);

}  // namespace weft::fabric
