#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "operator/base/random.h"
#include "operator/fabric/fabric.h"

namespace weft::report {

// How schedulers that know nothing of traffic choose nodes, for comparison. Each takes the workers
// that every node has room for (placement::CountSlots) and gives one node per worker, or nothing
// where they do not all fit.
using Nodes = std::vector<fabric::NodeIndex>;

// Nodes by name, each filled before the next.
Nodes FirstFit(const fabric::Fabric& fabric, const std::vector<std::uint32_t>& slots,
               std::uint32_t workers);

// The narrowest level one domain of which has room for all, and of such domains the one with the
// least room; else, at the widest level, the fewest domains, the one with most room first and the
// last one as tight as possible. The same again inside each domain that was chosen, down to the
// nodes. Workers in index order over domains by label.
// Source  Kueue, "Topology Aware Scheduling", KEP-2724, profile BestFit.
Nodes FewestDomains(const fabric::Fabric& fabric, const std::vector<std::uint32_t>& slots,
                    std::uint32_t workers);

// For each worker a random free slot; all slots are equally likely.
Nodes RandomFit(const std::vector<std::uint32_t>& slots, std::uint32_t workers, SplitMix64& random);

}  // namespace weft::report
