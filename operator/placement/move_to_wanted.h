#pragma once

#include <cstdint>

#include "operator/base/worker_index.h"
#include "operator/fabric/fabric.h"
#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

namespace weft::placement {

// How little each node is wanted (rules/unwanted.h), as a sum over the workers of a placement.
std::int64_t SumUnwanted(const fabric::ByNode<std::uint32_t>& unwanted, objective::Nodes nodes);

// Local search that lowers this sum: workers of a node change places with fewer workers of a more
// wanted one, move to its free slots, or one of them does. A step is made only if the placement
// keeps the hard rules and `start`'s preferences and costs at most `most_cost`.
//
// How   First between nodes of one narrowest domain that cost the same, which needs no look at the
//       cost; then to the best nodes of every kind, the largest gain first.
// Cost  O(nodes log nodes + workers x nodes of a narrowest domain), and a limited number of
//       evaluations of the cost, fewer for large jobs: some tens of milliseconds at most.
ByWorker<fabric::NodeIndex> MoveToWanted(const objective::Instance& instance,
                                         const fabric::ByNode<std::uint32_t>& unwanted,
                                         const objective::Candidate& start, Int128 most_cost);

}  // namespace weft::placement
