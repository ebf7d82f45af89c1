#pragma once

#include <vector>

#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

namespace weft::placement {

// For a restart: adds candidates that use the nodes of the job's last attempt
// (Request::previous_nodes). The objective can then choose them if their cost is within the
// tolerance of the least. Does nothing if there was no attempt, or if none of its nodes can take a
// worker.
//
// How: workers whose old node still has room stay. The others are placed at the least cost beside
// those that stay: in one domain, or wherever there is room. The best of these placements are
// solved again on their own nodes, where workers may change places. In addition, in every earlier
// candidate, workers move to their old nodes within the same cell, which costs nothing.
//
// Cost  O(domains + candidates x workers), plus a search on as many nodes as the job uses.
void AddPrevious(const objective::Instance& instance, const objective::Options& options,
                 Int128 enough, std::vector<objective::Candidate>& candidates);

}  // namespace weft::placement
