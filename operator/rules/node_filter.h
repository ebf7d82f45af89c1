#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"
#include "operator/rules/pod_requirements.h"

namespace weft::placement {

// How many more workers with these requirements each node can take.
//
// Shapes   slots: one per NodeIndex, 0 where the node is filtered out, capped at `cap`.
//          A worker takes one of the node's pods, and nothing where no node of the fabric says how
//          many pods it takes. A requested resource that no node offers leaves no slot anywhere.
// Cost     O(nodes x requested resources); taints, cordons and usability are evaluated once per
//          distinct combination, label rules on the nodes that have room.
struct SlotQuery {
  const PodRequirements* pod = nullptr;
  std::string job;                            // owner of a ComputeDomain, "namespace/name"
  std::vector<fabric::NodeIndex> excluded;    // ascending
  std::uint32_t cap = 0;                      // workers of the job
  bool ignore_claims = false;                 // as if nothing else ran
  std::vector<fabric::PoolIndex> pools = {};  // whose nodes alone count, ascending; empty: all
};
void CountSlots(const fabric::Claims& claims, const SlotQuery& query,
                std::vector<std::uint32_t>& slots);

}  // namespace weft::placement
