#pragma once

#include <vector>

#include "operator/objective/instance.h"

namespace weft::placement {

// Local search on the contracted job: the workers of one unit that stand in one cell are a piece,
// and pieces swap places or move to free ones. A step is taken where the cost is no more than it
// was some steps ago (late acceptance), at first a little more, by the gap to the bound: so the
// search climbs out of shallow valleys and comes to rest as the steps run out. Then pairs of cells
// are divided anew (exchange.h). Groups that miss their preferred level pull their pieces together.
//
// From the best few of the candidates, sorted best first, for a quarter of the steps each, while
// that gains, and then for longer from the best of what was found: the contents of whole cells,
// pieces of the groups that must or should share a domain, of the natural tiles from large to
// small, single workers. Adds what it finds in its place. Stops at a cost of `enough`.
//
// Cost    O(neighbours of a piece) a step.
// Source  Burke and Bykov, "The late acceptance hill-climbing heuristic", European Journal of
//         Operational Research 258, 2017.
void RefineBest(const Instance& instance, const SearchLimits& limits, Int128 enough,
                std::vector<Candidate>& candidates);

}  // namespace weft::placement
