#pragma once

#include <vector>

#include "operator/objective/instance.h"

namespace weft::placement {

// Adds placements of a restart that use the nodes of the job's last attempt (Request's
// previous_nodes), so that the levels of the objective may choose them where they cost no more than
// the tolerance above the least. Does nothing where there was no attempt or none of its nodes takes
// a worker.
//
// How: workers whose node still takes them stay. The others go where they cost least next to those
// that stay: into one domain, or wherever room is. The nodes of the best of these placements are
// then solved anew as if there were no others, since workers may change places among them. And of
// each placement found before, workers move between nodes of one cell, at no cost, to the old ones.
//
// Cost  O(domains + candidates x workers), and the search on as many nodes as the job uses.
void AddPrevious(const Instance& instance, const Options& options, Int128 enough,
                 std::vector<Candidate>& candidates);

}  // namespace weft::placement
