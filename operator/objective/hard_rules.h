#pragma once

#include "operator/objective/instance.h"

namespace weft::placement {

// The rules that every placement must meet.
//
// MeetsTopology  `required` of the job and of its groups. False for a partial placement (levels.h)
//                means that no completion of it meets them.
// MeetsHardRules the same, and the slots of every node; for whole placements only.
//
// Cost  MeetsTopology O(workers + members of groups); MeetsHardRules O(workers log workers) more.
bool MeetsTopology(const Instance& instance, Nodes nodes);
bool MeetsHardRules(const Instance& instance, Nodes nodes);

}  // namespace weft::placement
