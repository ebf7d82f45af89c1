#pragma once

#include <string>

#include "operator/fabric/claims.h"
#include "operator/render/text_format.h"

namespace weft::render {

struct TreeOptions {
  bool nodes = false;  // a line for each domain and node, without a limit
};

// If the folded tree has more lines, it first leaves out nodes; then, from the narrowest level
// upwards, it only counts the wholly free, partly free and full domains.
inline constexpr std::size_t kMostTreeLines = 60;

// Every domain with its nodes, accelerators and free accelerators (unclaimed, on nodes that are
// usable and not cordoned). Equal domains share a line, "leaf-[01-08]: each 16 nodes, 128 GPUs, 40
// free", and so do equal nodes of a domain. A scale-up domain that equals its parent has no line.
// Cost  O(nodes x tiers x log nodes).
std::string DomainTree(const fabric::Claims& claims, const TextOptions& options,
                       const TreeOptions& tree);

}  // namespace weft::render
