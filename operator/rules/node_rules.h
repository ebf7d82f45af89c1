#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"
#include "operator/rules/slot_query.h"

namespace weft::rules {

// Rules of single nodes, shared by the count of slots (node_filter.h) and the reasons for a count
// of 0 (node_judge.h).

struct Want {
  fabric::ResourceIndex resource{0};
  std::int64_t amount = 0;
};

// What one worker requests, by resource index, including one pod if any node lists the resource
// `pods`. Accelerators come first, because on most nodes they decide alone.
struct Wants {
  std::vector<Want> list;
  std::string not_offered;  // a resource that no node has
};
Wants ResolveWants(const fabric::Fabric& fabric, const PodRequirements& pod);

// The namespace of the query's job.
std::string SpaceOf(const SlotQuery& query);

// By pool: whether the query allows its nodes.
IndexVector<fabric::PoolIndex, std::uint8_t> PoolsAllowed(const fabric::Fabric& fabric,
                                                          const SlotQuery& query);

// Whether the ComputeDomain of another job holds the node.
bool ComputeDomainBlocks(const fabric::Claims& claims, const SlotQuery& query,
                         fabric::NodeIndex node);

// Whether the node gives its accelerators only in the other way than the pod asks for them.
bool AccessBlocks(const PodRequirements& pod, const fabric::NodeFacts& node);

// Whether the node is cordoned and the pod does not tolerate it.
bool CordonBlocks(const PodRequirements& pod, const fabric::NodeFacts& node);

// Whether the pod tolerates the node's taints; with ignore_health, those that pass by themselves
// do not count.
bool PassesTaints(const SlotQuery& query, std::span<const fabric::Taint> taints);

// Whether the node matches the pod's nodeSelector and required node affinity.
bool MatchesNode(const PodRequirements& pod, const fabric::NodeFacts& node);

// The nodeSelector entry that the node lacks, or null.
const std::pair<const std::string, std::string>* MissingSelector(const PodRequirements& pod,
                                                                 const fabric::NodeFacts& node);

// The first of the pod's level_labels of which the node has none, or only placeholders; or null.
const std::vector<std::string>* MissingLevel(const PodRequirements& pod,
                                             const fabric::NodeFacts& node);

}  // namespace weft::rules
