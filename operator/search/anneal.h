#pragma once

#include <vector>

#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

namespace weft::search {

// Local search by single workers for jobs whose cost is bytes x hops in one torus. It takes the
// best candidate that is inside one torus and inserts what it finds in order. Jobs with groups,
// which need levels, are left alone. Returns whether other local search would be in vain: false if
// it has done nothing, if hosts take several workers, which may then have to move together, or if
// the best candidate is in a torus so large that some pairs pay the levels instead of the hops.
//
// How   A worker moves to a seat near one of its peers, or changes places with the worker there;
//       parts of rings and whole clusters move too (strand_moves.h). A move that raises the cost by
//       d is made with probability 2^(-d / heat), and the heat falls (simulated annealing). The
//       first runs start hot enough to leave the start's arrangement of heavy peers; the last
//       starts cool from the best candidate, which may be a box that a hot run would lose.
// Cost  SearchLimits::AnnealStepsFor moves of a worker, O(its peers) each: about 60 ns.
// Source  Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 220, 1983.
bool AnnealBest(const objective::Instance& instance, Int128 enough,
                std::vector<objective::Candidate>& candidates);

}  // namespace weft::search
