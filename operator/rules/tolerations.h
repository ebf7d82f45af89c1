#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "operator/fabric/node_facts.h"
#include "operator/rules/pod_requirements.h"

namespace weft::rules {

// The taint of a cordoned node; a pod that tolerates it may still be placed there.
inline constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";

// Whether one toleration covers one taint. An empty effect covers all effects, an empty key all
// keys. Operators: Equal (the default), Exists, and the numeric Lt and Gt: the taint's value is
// below or above the toleration's, and both are canonical decimal integers. Any other operator
// covers no taint.
//
// Source  Kubernetes core/v1 Toleration.ToleratesTaint, 1.35; KEP-5471, "Extended Toleration
//         Operators for Threshold-Based Placement", 2025.
bool Tolerates(const Toleration& toleration, const fabric::Taint& taint);

bool TolerateTaint(std::span<const Toleration> tolerations, const fabric::Taint& taint);

// The first taint with the effect NoSchedule or NoExecute that no toleration covers, or null.
// PreferNoSchedule never keeps a pod off a node.
const fabric::Taint* FirstUntolerated(std::span<const fabric::Taint> taints,
                                      std::span<const Toleration> tolerations);

// Whether the taint of this key is one that a kubelet, a cloud's controller, an autoscaler or the
// agent of a network or storage driver takes off again without anybody's help: every new node has
// some for a minute. The taint of a cordon counts too: it comes and goes with the node's state.
//
// Source  kubernetes.io/docs/reference/labels-annotations-taints; karpenter.sh/docs/concepts,
//         "startupTaints"; cluster-autoscaler FAQ, "startup taints"; docs.cilium.io, "Node taints".
bool PassesByItself(std::string_view taint_key);

// "key=value:Effect", "key:Effect" without a value, as kubectl writes taints.
std::string TaintText(const fabric::Taint& taint);

}  // namespace weft::rules
