#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"
#include "operator/placement/pod_requirements.h"

namespace weft::placement {

// Why a node takes no worker, in the order in which kube-scheduler's filters would say it.
//
// Source  Kubernetes pkg/scheduler, getDefaultPlugins, 1.36: NodeUnschedulable, NodeName,
//         TaintToleration, NodeAffinity, NodeResourcesFit, ..., DynamicResources last.
enum class Rejection : std::uint8_t {
  kNone,
  kUnusable,       // Fabric.spec.unusable, or not Ready
  kUnschedulable,  // cordoned, and not tolerated
  kExcluded,       // excluded by the caller (it refused this job before)
  kNodeName,
  kTaint,
  kNodeSelector,
  kNodeAffinity,
  kResource,       // see `resource` in Verdict
  kComputeDomain,  // another job's ComputeDomain holds the node
};
std::string_view RejectionName(Rejection rejection);

struct Verdict {
  Rejection rejection = Rejection::kNone;
  std::string detail;  // for a person: the taint, the selector, the resource and how much is free
  // kResource only: the scarcest. The index is 0 where no node of the fabric offers it.
  std::string resource_name;
  fabric::ResourceIndex resource = 0;
};

// How many more workers of this shape each node can take.
//
// Shapes   slots: one per NodeIndex, 0 where the node is filtered out, capped at `cap`.
//          A worker takes one of the node's pods, and nothing where no node of the fabric says how
//          many pods it takes. A requested resource that no node offers leaves no slot anywhere.
// Cost     O(nodes x requested resources); taints, cordons and usability are evaluated once per
//          distinct combination, label rules on the nodes that have room.
struct SlotQuery {
  const PodRequirements* pod = nullptr;
  std::string job;                          // owner of a ComputeDomain, "namespace/name"
  std::vector<fabric::NodeIndex> excluded;  // ascending
  std::uint32_t cap = 0;                    // workers of the job
  bool ignore_claims = false;               // as if nothing else ran
};
void CountSlots(const fabric::Claims& claims, const SlotQuery& query,
                std::vector<std::uint32_t>& slots);

// The reason of one node, for refusals and `explain`. kNone where CountSlots gives at least 1.
Verdict Judge(const fabric::Claims& claims, const SlotQuery& query, fabric::NodeIndex node);

// Rules that do not depend on claims: labels, taints, cordon, usable, exclusion.
bool PassesStaticFilters(const fabric::Fabric& fabric, const SlotQuery& query,
                         fabric::NodeIndex node, Verdict* why);

}  // namespace weft::placement
