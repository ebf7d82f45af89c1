#pragma once

#include <vector>

#include "operator/objective/instance.h"

namespace weft::placement {

// Adds placements of a restart that use the nodes of the job's last attempt (Request's
// previous_nodes), so that the levels of the objective may choose them where they cost no more than
// the tolerance above the least. Does nothing if there was no attempt, or if none of its nodes
// takes a worker.
//
// How: workers whose node still takes them stay. The others go where they cost least next to those
// that stay: into one domain, or wherever room is. The best of these placements are then solved
// again on their nodes only, since workers may change places among them. In addition, workers of
// every placement found before move, at no cost, to their old nodes within the same cell.
//
// Cost  O(domains + candidates x workers), and the search on as many nodes as the job uses.
void AddPrevious(const Instance& instance, const Options& options, Int128 enough,
                 std::vector<Candidate>& candidates);

}  // namespace weft::placement
