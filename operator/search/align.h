#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/tree.h"
#include "operator/search/knapsack.h"
#include "operator/search/tiling.h"

namespace weft::search {

// The bytes between the first x workers of the walk and the others, by x from 0 to all.
//
// Cost  O(edges + members of cliques).
std::vector<Int128> CutsOf(const traffic::WorkerGraph& graph, std::span<const WorkerIndex> walk);

// Orders the domains into which a run of the walk is laid, so that the walk is cut where few bytes
// cross. For example, in a walk of groups of 8, a rack that takes 7 workers is followed by a rack
// that takes 1, 9 or 17. Domains with the same parent stay together. Of the siblings that are left,
// the next is the one after which the cut is least; on a tie, the first in tree order.
//
// `shares`: the units of each domain of step.tier inside one domain of `tier`, in tree order; a
// unit is step.unit workers. `cuts`: the result of CutsOf from the run's first worker on.
// Cost  O(siblings squared) for each domain between the two tiers.
void AlignShares(const objective::Tree& tree, fabric::Tier tier, TilingStep step,
                 std::span<const Int128> cuts, std::vector<Knapsack::Share>& shares);

}  // namespace weft::search
