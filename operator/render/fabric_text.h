#pragma once

#include <string>

#include "operator/decide/cluster.h"
#include "operator/render/text_format.h"

namespace weft::render {

struct TreeOptions {
  bool nodes = false;  // a line for each node
};

// The fabric as a tree: links by level, every domain with its free and used accelerators,
// look-alike neighbours folded into one line; then nodes that are incomplete or unusable, and why.
// Cost  O(nodes).
std::string FabricTree(const decide::ClusterFabric& cluster, const TextOptions& options,
                       const TreeOptions& tree);

}  // namespace weft::render
