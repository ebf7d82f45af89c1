#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"
#include "operator/rules/node_filter.h"

namespace weft::placement {

// Single rules of nodes, shared by the count of slots (node_filter.h) and the reasons for having
// none (node_judge.h).

struct Want {
  fabric::ResourceIndex resource = 0;
  std::int64_t amount = 0;
};

// What one worker asks for, by resource index; one of the node's pods too, where any node says how
// many it takes. Accelerators come first: on most nodes they decide alone.
struct Wants {
  std::vector<Want> list;
  std::string not_offered;  // a resource that no node has
};
Wants ResolveWants(const fabric::Fabric& fabric, const PodRequirements& pod);

// By pool: whether its nodes count.
std::vector<std::uint8_t> PoolsAllowed(const fabric::Fabric& fabric, const SlotQuery& query);

// Whether another job's ComputeDomain holds the node.
bool ComputeDomainBlocks(const fabric::Claims& claims, const SlotQuery& query,
                         fabric::NodeIndex node);

// Whether the node is cordoned and that is not tolerated.
bool CordonBlocks(const fabric::Fabric& fabric, const PodRequirements& pod, fabric::NodeIndex node);

// The nodeSelector entry that the node lacks, or null.
const std::pair<const std::string, std::string>* MissingSelector(const PodRequirements& pod,
                                                                 const fabric::NodeFacts& node);

}  // namespace weft::placement
