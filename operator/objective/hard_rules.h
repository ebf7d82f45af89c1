#pragma once

#include "operator/objective/instance.h"

namespace weft::placement {

// What a placement must hold, all or nothing.
//
// MeetsTopology  `required` and the groups' `required`; of a partial placement (levels.h), as far
//                as it stands: false means that no way to place the rest holds them.
// MeetsHardRules slots too, of a whole placement.
//
// Cost  O(workers + members of groups), O(workers log workers).
bool MeetsTopology(const Instance& instance, Nodes nodes);
bool MeetsHardRules(const Instance& instance, Nodes nodes);

}  // namespace weft::placement
