#pragma once

#include <cstdint>
#include <string>

#include "operator/fabric/claims.h"
#include "operator/rules/apart.h"
#include "operator/rules/slot_query.h"
#include "operator/rules/worker_rules.h"

namespace weft::rules {

// The two answers to the rules of between_pods.h: slots that keep them, and the rules themselves.
//
// KeepWorkers     Takes slots away until no rule can be broken, one rule after the other, as
//                 between_pods.h says. It can leave too few where two rules meet.
// RulesOfWorkers  Takes away only what no worker can use, whichever nodes the others are on, and
//                 returns the rules that are left. All placements that keep them use these slots,
//                 but for claims of each worker's own that have no volume: the roomiest nodes get
//                 the free volumes.
void KeepWorkers(const fabric::Claims& claims, const SlotQuery& query,
                 fabric::ByNode<std::uint32_t>& slots, Apart* apart);
WorkerRules RulesOfWorkers(const fabric::Claims& claims, const SlotQuery& query,
                           fabric::ByNode<std::uint32_t>& slots);

// Whether kube-scheduler counts the pods of a node for the rule, and not those of its domain: the
// node to which a worker is pinned is the only one that matches its node affinity, and a single
// domain is fewer than minDomains.
bool IsForNodes(const fabric::SpreadRule& rule);

std::string PortText(const fabric::HostPort& port);

}  // namespace weft::rules
