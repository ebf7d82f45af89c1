#pragma once

#include <vector>

#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

namespace weft::search {

// Local search for a job whose only traffic is one ring of workers, on a torus: the shortest round
// trip over hosts that the search also chooses. It takes the best few candidates, shortens each by
// turning round a part of the ring (2-opt), by moving up to three hosts to another place of it
// (or-opt) and by using a free host instead of one, and kicks it out of local optima (double
// bridge) while `ring_steps` last. What it finds is inserted in order. Other jobs are left alone.
//
// Cost    SearchLimits::ring_steps looked at, for each candidate.
// Source  Lourenço, Martin and Stützle, "Iterated Local Search", Handbook of Metaheuristics, 2003.
void ShortenRings(const objective::Instance& instance, Int128 enough,
                  std::vector<objective::Candidate>& candidates);

}  // namespace weft::search
