#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/rules/apart.h"
#include "operator/rules/slot_query.h"

namespace weft::rules {

// Rules between a pod and the pods beside it: ports of the node, the one ComputeDomain channel of a
// node, required pod affinity and anti-affinity, topologySpreadConstraints with DoNotSchedule, and
// volumes (volumes.h).
//
// Source  Kubernetes 1.36 pkg/scheduler/framework/plugins: nodeports, interpodaffinity,
//         podtopologyspread.

// Whether one of these rules holds for the query.
bool LooksAtPods(const fabric::Claims& claims, const SlotQuery& query);

// Takes away slots until the workers break no rule, neither with pods that run nor with each other,
// whichever of the remaining slots are used.
//
// Between workers  At most one on a node, or in a domain, leaves the domain's roomiest node.
//                  Affinity to each other leaves the domain with the most slots. A spread gives
//                  each domain its share; with nodeAffinityPolicy Honor, pinned pods would pass
//                  kube-scheduler with any, so this keeps what the user asked for.
// Pods elsewhere   count where a node here has their node's value of the topologyKey; for ports and
//                  channels they do not. Those that are placed there since are not known.
// Cost             O(nodes + pods) for each rule, nothing without rules. Of pods elsewhere only
//                  those of the namespaces that a rule selects are looked at, and the terms that
//                  may select the job's namespace (fabric/elsewhere.h).
void KeepApart(const fabric::Claims& claims, const SlotQuery& query,
               fabric::ByNode<std::uint32_t>& slots, Apart* apart = nullptr);

// Why a node or domain takes few workers of one job, as a clause: "a node takes one worker, because
// it has one host port 2222/TCP"; "" if nothing between the workers limits them.
std::string BetweenWorkersText(const SlotQuery& query);

}  // namespace weft::rules
