#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"
#include "operator/rules/slot_query.h"

namespace weft::rules {

// Watts that the accelerators of a domain draw at most, with their share of the servers: those in
// use, or none if claims are ignored. Accelerators of an unknown product count as 0.
double PeakWattsIn(const fabric::Claims& claims, fabric::Tier tier, fabric::DomainIndex domain,
                   bool ignore_claims = false);

// The same for one worker on the node.
double WorkerPeakWatts(const fabric::Fabric& fabric, const PodRequirements& pod,
                       fabric::NodeIndex node);

// Takes away slots until no domain can exceed its power limit (LevelSpec::power_watts), whichever
// slots are used. A domain gives its power to its parts with the most slots first, then to its
// nodes in tree order; so the others stay without a worker even if the search would prefer them.
//
// Shapes  stopped: if not null, gets for each node the tier whose limit
//         took its last slot, else kOutside.
// Cost    O(nodes) for each tier with a limit, nothing if there is none.
void KeepToPower(const fabric::Claims& claims, const SlotQuery& query,
                 fabric::ByNode<std::uint32_t>& slots,
                 fabric::ByNode<fabric::Tier>* stopped = nullptr);

// "7.84kW".
std::string WattsText(double watts);

// For the node's domain: "leaf rack-07 may draw 30kW, pods there draw up to 15.68kW, each worker
// would add 7.84kW".
std::string PowerText(const fabric::Claims& claims, const SlotQuery& query, fabric::Tier tier,
                      fabric::NodeIndex node);

}  // namespace weft::rules
