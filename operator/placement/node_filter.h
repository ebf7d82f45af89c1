#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"
#include "operator/placement/pod_requirements.h"

namespace weft::placement {

// Why a node takes no worker, in the order in which kube-scheduler's filters would say it.
enum class Rejection : std::uint8_t {
  kNone,
  kUnusable,          // Fabric.spec.unusable, or not Ready
  kUnschedulable,     // cordoned, and not tolerated
  kExcluded,          // excluded by the caller (it refused this job before)
  kNodeName,
  kNodeSelector,
  kNodeAffinity,
  kTaint,
  kComputeDomain,     // another job's ComputeDomain holds the node
  kResource,          // see `resource` in Verdict
};
std::string_view RejectionName(Rejection rejection);

struct Verdict {
  Rejection rejection = Rejection::kNone;
  std::string detail;            // the taint, the selector's key, the resource
  fabric::ResourceIndex resource = 0;  // kResource only: the scarcest
};

// How many more workers of this shape each node can take.
//
// Shapes   slots: one per NodeIndex, 0 where the node is filtered out, capped at `cap`.
// Cost     O(nodes x requested resources); label and taint rules are evaluated once per distinct
//          combination where the template has none of its own.
struct SlotQuery {
  const PodRequirements* pod = nullptr;
  std::string job;                             // owner of a ComputeDomain, "namespace/name"
  std::vector<fabric::NodeIndex> excluded;     // ascending
  std::uint32_t cap = 0;                       // workers of the job
  bool ignore_claims = false;                  // as if nothing else ran
};
void CountSlots(const fabric::Claims& claims, const SlotQuery& query,
                std::vector<std::uint32_t>& slots);

// The reason of one node, for refusals and `explain`. kNone where CountSlots gives at least 1.
Verdict Judge(const fabric::Claims& claims, const SlotQuery& query, fabric::NodeIndex node);

// Rules that do not depend on claims: labels, taints, cordon, usable, exclusion.
bool PassesStaticFilters(const fabric::Fabric& fabric, const SlotQuery& query,
                         fabric::NodeIndex node, Verdict* why);

}  // namespace weft::placement
