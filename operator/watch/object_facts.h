#pragma once

#include "operator/api/kinds.h"

namespace weft::watch {

// A node without a known state counts as ready, so that it is not treated as lost.
bool IsReady(const api::Node& node);

// Whether two states of a pod use the same resources of the same node.
bool HoldAlike(const api::Pod& a, const api::Pod& b);

// Whether two states of a Fabric have the same spec. Plans do not read a Fabric's status.
bool SpecIsTheSame(const api::Fabric& a, const api::Fabric& b);

// Whether the planner must choose nodes for this Placement, which belongs to no job. It chooses
// nodes for a Placement of a Workload when the Workload's check asks for them.
bool Waits(const api::Placement& placement);

// Whether the pod has the label weft.dev/place: "true", no label weft.dev/placement, and no
// TrainingJob controls it.
bool AsksForPlacement(const api::Pod& pod);

// Whether the Placement selects pods of another controller.
bool Selects(const api::Placement& placement);

// The last readable state of a pod, updated with the fields that are known of an unreadable one.
api::Pod Onto(const api::Pod& before, const api::Pod& unreadable);

}  // namespace weft::watch
