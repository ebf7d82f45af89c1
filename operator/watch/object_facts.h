#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "operator/api/fabric.h"
#include "operator/api/kueue.h"
#include "operator/api/node.h"
#include "operator/api/placement.h"
#include "operator/api/pod.h"

namespace weft::watch {

// A node without a known state counts as ready, so that it is not treated as lost.
bool IsReady(const api::Node& node);

// Whether two states of a pod use the same resources of the same node.
bool HoldAlike(const api::Pod& a, const api::Pod& b);

// Whether two states of a Fabric have the same spec. Plans do not read a Fabric's status.
bool SpecIsTheSame(const api::Fabric& a, const api::Fabric& b);

// Whether the pod has the label weft.dev/place: "true", no label weft.dev/placement, and no
// TrainingJob controls it.
bool RequestsPlacement(const api::Pod& pod);

// Whether the Placement selects pods of another controller.
bool Selects(const api::Placement& placement);

// The gang of a pod of another controller, as namespace and name: the Placement that its label
// weft.dev/placement names, without the hash of a reservation of Kueue (life/kueue_check.h); else,
// if it asks for a Placement, cluster::ForeignGang::base ("" for a pod of no gang). Nothing for
// other pods.
std::optional<api::ObjectKey> GangOf(const api::Pod& pod);
// The gang to which all pods that the Placement selects belong; nothing if its podSelector, or its
// maker, does not tell.
std::optional<api::ObjectKey> GangOf(const api::Placement& placement);

// Where the store keeps what an owner controls. An owner is of its object's namespace.
std::pair<std::string, std::string> OwnerKey(const std::string& space, const std::string& uid);

// How many of the Workload's pods have succeeded, by its status.
std::uint32_t SucceededPods(const api::Workload& workload);

// Whether the pod of the Placement's gang was a worker of an earlier reservation of the same pod
// set and has Succeeded: its controller makes no pod for it again.
bool WasWorkerOf(const api::Placement& placement, const api::Pod& pod);

// The last readable state of a pod, updated with the fields that are known of an unreadable one.
api::Pod Onto(const api::Pod& before, const api::Pod& unreadable);

}  // namespace weft::watch
