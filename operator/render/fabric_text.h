#pragma once

#include <string>

#include "operator/cluster/cluster.h"
#include "operator/render/domain_tree.h"

namespace weft::render {

// The fabric for people: links by level, the tree of domains (domain_tree.h), then nodes that are
// incomplete or take no pods, by reason.
// Cost  O(nodes x tiers x log nodes).
std::string FabricText(const cluster::ClusterFabric& cluster, const TextOptions& options,
                       const TreeOptions& tree);

}  // namespace weft::render
