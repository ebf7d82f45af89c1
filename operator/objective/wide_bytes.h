#pragma once

#include <cstdint>
#include <vector>

#include "operator/base/units.h"
#include "operator/objective/nodes.h"
#include "operator/objective/pair_cost.h"

namespace weft::objective {

class Instance;

// For each free level (PairCost::free_levels), widest first, the share of the job's bytes between
// workers that leaves the level's domains, in parts of a million, rounded up. The cost says nothing
// about these bytes, but they use links that other jobs use too.
//
//   10^6 x sum of T{a,b} over workers a, b in different domains of the level / sum of all T{a,b}
//
// Bytes that a network beside the levels carries do not count. Of a partial placement, workers
// without a node count as inside, so that the values are lower bounds for its completions. Empty if
// the fabric has no free level.
//
// Cost  O((edges + members of cliques) x free levels); members of cliques squared with a network
//       beside the levels.
std::vector<std::uint32_t> WideBytes(const Instance& instance, Nodes nodes);

// The bytes of that sum for one level.
Int128 BytesLeaving(const Instance& instance, fabric::Tier tier, Nodes nodes);
// Whether bytes between two nodes leave the tier's domain by its own links.
bool LeavesDomain(const PairCost& pair_cost, fabric::Tier tier, fabric::NodeIndex a,
                  fabric::NodeIndex b);

}  // namespace weft::objective
