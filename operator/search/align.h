#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/tree.h"
#include "operator/search/tiling.h"

namespace weft::placement {

// The bytes between the first x workers of the walk and the others, by x from 0 to all.
//
// Cost  O(edges + members of cliques).
std::vector<Int128> CutsOf(const traffic::WorkerGraph& graph, std::span<const std::uint32_t> walk);

// Orders the domains that a run of the walk is laid into so that the walk is cut where few bytes
// cross: if it consists of groups of 8, a rack that takes 7 workers is followed by one that takes
// 1, 9 or 17. Domains stay beside their siblings of each tier. Of the siblings that are left, the
// one after which the cut is least comes next; the first in tree order on a tie.
//
// `shares`: of domains of step.tier inside one domain of `tier`, in tree order, each with
// step.unit workers for each of its units. `cuts`: from the run's first worker on.
// Cost  O(siblings squared) for each domain between the two tiers.
void AlignShares(const Tree& tree, fabric::Tier tier, TilingStep step, std::span<const Int128> cuts,
                 std::vector<Knapsack::Share>& shares);

}  // namespace weft::placement
