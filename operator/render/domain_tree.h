#pragma once

#include <string>

#include "operator/fabric/claims.h"
#include "operator/render/text_format.h"

namespace weft::render {

struct TreeOptions {
  bool nodes = false;  // a line for each domain and node, however many
};

// Above so many lines the folded tree shows less: first no nodes, then, from the narrowest level
// upwards, only what is wholly, partly and not at all free.
inline constexpr std::size_t kMostTreeLines = 60;

// Every domain with its nodes, accelerators and the free ones: unclaimed, on nodes that are usable
// and not cordoned. Equal domains share a line, "leaf-[01-08]: each 16 nodes, 128 GPUs, 40 free",
// and equal nodes of a domain do too. A scale-up domain that equals its parent has no line.
// Cost  O(nodes x tiers x log nodes).
std::string DomainTree(const fabric::Claims& claims, const TextOptions& options,
                       const TreeOptions& tree);

}  // namespace weft::render
