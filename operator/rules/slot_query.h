#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/fabric/pools.h"
#include "operator/fabric/tiers.h"
#include "operator/rules/pod_requirements.h"

namespace weft::rules {

// The workers whose room is counted (node_filter.h).
struct SlotQuery {
  const PodRequirements* pod = nullptr;
  std::string job;                            // "namespace/name", may own a ComputeDomain
  std::vector<fabric::NodeIndex> excluded;    // ascending
  std::uint32_t cap = 0;                      // workers of the job
  bool ignore_claims = false;                 // as if nothing else ran and all devices worked
  // And as if every node were usable, not cordoned, labelled by the drivers of its volumes, and had
  // the devices that other nodes of its pool have.
  bool ignore_health = false;
  std::vector<fabric::PoolIndex> pools = {};  // only their nodes count; ascending; empty: all
};

}  // namespace weft::rules
