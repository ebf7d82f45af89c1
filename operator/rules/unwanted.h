#pragma once

#include <cstdint>

#include "operator/fabric/claims.h"
#include "operator/rules/slot_query.h"

namespace weft::rules {

// How little the pod wants each node, by kube-scheduler's soft rules: preferred node affinity,
// taints with PreferNoSchedule, affinity and anti-affinity to and of pods that run
// (PreferredPodsBy), topologySpreadConstraints with ScheduleAnyway (CrowdedBy). 0 is best; a
// cordoned node that the pod tolerates comes last. Empty if all nodes are the same to the pod.
//
// Source  the default weights of Kubernetes 1.36: TaintToleration 3, NodeAffinity 2,
//         InterPodAffinity 2, PodTopologySpread 2
//         (pkg/scheduler/apis/config/v1/default_plugins.go).
// Cost    O(taint classes + nodes x preferred terms), and that of preferred_pods.h.
fabric::ByNode<std::uint32_t> Unwanted(const fabric::Claims& claims, const SlotQuery& query);

}  // namespace weft::rules
