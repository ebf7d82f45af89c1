#pragma once

#include <vector>

#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

namespace weft::search {

// Local search on the contracted job: the workers of one unit in one cell are a piece, and pieces
// swap cells or move to free slots. A step is accepted if the cost is at most the cost some steps
// ago (late acceptance), plus, at first, a share of the gap to the bound. So the search leaves
// shallow local optima and settles as the steps run out. Then pairs of cells exchange pieces
// (exchange.h). Pieces of a set that a group prefers in one domain attract each other (pieces.h).
//
// It starts from the best few candidates (sorted best first) for one round of steps each, as
// long as starts gain or the cost is far above `enough` (SearchLimits), then continues for more
// rounds from the best results. Pieces get smaller: all of a
// cell, then groups that must or should share a domain, natural tiles from large to small, and
// single workers. New candidates are inserted in order. The search stops at a cost of `enough`.
//
// Cost    O(neighbours of a piece) for each step.
// Source  Burke and Bykov, "The late acceptance hill-climbing heuristic", European Journal of
//         Operational Research 258, 2017.
void RefineBest(const objective::Instance& instance, const objective::SearchLimits& limits,
                Int128 enough, std::vector<objective::Candidate>& candidates);

}  // namespace weft::search
