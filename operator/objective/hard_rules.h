#pragma once

#include "operator/objective/instance.h"

namespace weft::placement {

// The rules that every placement must meet.
//
// MeetsTopology  `required` and the groups' `required`; for a partial placement (levels.h), false
//                means that no completion meets them.
// MeetsHardRules slots too, of a whole placement.
//
// Cost  O(workers + members of groups), O(workers log workers).
bool MeetsTopology(const Instance& instance, Nodes nodes);
bool MeetsHardRules(const Instance& instance, Nodes nodes);

}  // namespace weft::placement
