#pragma once

#include <vector>

#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

namespace weft::search {

// Placements of the job inside a single torus, for each torus in one domain. All of them meet the
// hard rules; empty if no torus has room for the job.
//
// How   The job's grid is laid into boxes (box_layouts.h), at the positions with the fewest holes
//       (free_places.h); the worker of a hole goes to the nearest free place. If every box has
//       holes, the grid is also laid by bisection (bisect.h) onto the free places of the smallest
//       box that has enough of them, and layouts are spread over free places (spread.h).
// Cost  SearchLimits::box_steps, and SearchLimits::boxes placements evaluated in each of a few
//       toruses; O(places of the torus) for every size of box.
std::vector<objective::Candidate> TorusCandidates(const objective::Instance& instance,
                                                  fabric::Tier home, fabric::DomainIndex domain);

}  // namespace weft::search
