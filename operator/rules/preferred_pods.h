#pragma once

#include <cstdint>

#include "operator/fabric/claims.h"
#include "operator/rules/slot_query.h"

namespace weft::rules {

// What kube-scheduler's score of a node for the query's pod owes to the pods that run. They count
// as they are before the first worker comes.
//
// Source  Kubernetes 1.36 pkg/scheduler/framework/plugins: interpodaffinity/scoring.go,
//         podtopologyspread/scoring.go.

// By node: the weight of the preferred terms that it meets, of the query's pod towards pods that
// run and of those towards it. A term of required affinity of a pod that runs has the weight 1, the
// default of hardPodAffinityWeight. A term whose topologyKey the pod's node lacks counts nowhere.
// Empty if no term is met.
//
// Cost  O(pods with such terms) if nobody has one for the other, else O(pods x terms + nodes x
//       topologyKeys that a pod's node has).
fabric::ByNode<std::int64_t> PreferredPodsBy(const fabric::Claims& claims, const SlotQuery& query);

// By node: how crowded its domains are, by topologySpreadConstraints with ScheduleAnyway; kNoLabel
// if it lacks the label of one, or would take no worker even if it were empty. Empty without such
// constraints.
//
//   sum over constraints of pods in the domain x ln(domains + 2) + maxSkew - 1, rounded
//
// The domains are those of nodes that would take a worker if they were empty. kube-scheduler counts
// those of nodes that have room now.
//
// Cost  O((nodes + pods) x constraints).
inline constexpr std::int64_t kNoLabel = -1;
fabric::ByNode<std::int64_t> CrowdedBy(const fabric::Claims& claims, const SlotQuery& query);

}  // namespace weft::rules
