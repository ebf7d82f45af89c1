#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "operator/fabric/tiers.h"

namespace weft::fabric {

// Each node's path in the tree as one number (Fabric::path_codes): the child number on each tier of
// the path, widest in the highest bits.
struct PathCodes {
  ByNode<std::uint64_t> of_node;        // empty if the paths need more than 64 bits
  std::array<Tier, 64> parting_tier{};  // by the highest bit in which two codes differ
};

// Shapes  `domains` by tier, down to the node tier, for `nodes` nodes.
// Cost    O(nodes x tiers).
PathCodes CodePaths(const ByTier<TierDomains>& domains, std::uint32_t nodes);

}  // namespace weft::fabric
