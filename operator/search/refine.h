#pragma once

#include <vector>

#include "operator/objective/instance.h"

namespace weft::placement {

// Local search on the contracted job: the workers of one unit that stand in one cell are a piece,
// and pieces swap places or move to free ones. A step is accepted if the cost is no more than it
// was some steps ago (late acceptance), at first plus a share of the gap to the bound: the search
// leaves shallow local optima and settles as the steps run out. Then pairs of cells are divided
// anew (exchange.h). Groups that miss their preferred level pull their pieces together.
//
// Starts from the best few candidates, sorted best first, with a quarter of the steps each, while
// that gains, then for longer from the best results. Pieces get smaller: the contents of whole
// cells, pieces of the groups that must or should share a domain, of the natural tiles from large
// to small, single workers. Adds what it finds in its place. Stops at a cost of `enough`.
//
// Cost    O(neighbours of a piece) a step.
// Source  Burke and Bykov, "The late acceptance hill-climbing heuristic", European Journal of
//         Operational Research 258, 2017.
void RefineBest(const Instance& instance, const SearchLimits& limits, Int128 enough,
                std::vector<Candidate>& candidates);

}  // namespace weft::placement
