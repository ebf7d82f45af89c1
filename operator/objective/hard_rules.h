#pragma once

#include "operator/objective/instance.h"

namespace weft::objective {

// The rules that every placement must meet.
//
// MeetsTopology   The rule `required` of the job and of its groups. For a partial placement
//                 (levels.h), false means that no completion of it meets these rules.
// MeetsHardRules  The same, and no node has more workers than slots; for whole placements only.
//
// Cost  MeetsTopology O(workers + members of groups); MeetsHardRules O(workers log workers) more.
bool MeetsTopology(const Instance& instance, Nodes nodes);
bool MeetsHardRules(const Instance& instance, Nodes nodes);

}  // namespace weft::objective
