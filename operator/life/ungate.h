#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "operator/api/kinds.h"
#include "operator/base/timestamp.h"
#include "operator/decide/worker_order.h"
#include "operator/life/next_step.h"

namespace weft::life {

// Annotation of a pod whose gate was removed: the Placement's uid. The annotation kWorkerIndexLabel
// has the worker.
inline constexpr const char* kPlacementUidAnnotation = "weft.dev/placement-uid";

// A Placement with a podSelector and the pods of others that it selects. Points into a snapshot.
struct GangView {
  const api::Placement* placement = nullptr;
  std::vector<const api::Pod*> pods;  // none that a TrainingJob owns
  NodeStates node_state;              // none: all are well
  UnixSeconds now = 0;
};

// The fields of status that are written; the others stay.
struct PlacementStatus {
  bool keeps_nodes = true;  // else nodes, spans, traffic are removed and placed again
  std::vector<api::Condition> conditions;
  std::vector<api::ExcludedNode> excluded;
  api::Retry retry;
};

// Each pod gets the affinity to its worker's node and loses the gate, in one update.
struct UngatePods {
  std::vector<decide::WorkerPod> pods;
};
struct EvictPods {
  std::vector<const api::Pod*> pods;
};
struct WritePlacement {
  PlacementStatus status;
};
using UngateStep = std::variant<UngatePods, EvictPods, WritePlacement, Wait>;

// What to do next for a Placement of pods that Weft does not own. Pure and level-based: all that it
// knows stands in the API server, so that a new leader goes on where the last one stopped.
//
// The planner commits status.nodes when enough pods wait; they stay as they are for as long as any
// pod that was ungated for them lives, and the condition Verified tells how far the gang is:
//   absent               nobody was ungated
//   Unknown, Binding     pods are ungated, and kube-scheduler binds them; since the transition
//   Unknown, SchedulerSilent  none is bound, and kube-scheduler has said nothing of any
//   True, AsPlaced       every pod is bound to its worker's node
//   False, BindRefused   not all bound by the deadline (UngateRefused: not all ungated,
//                        SchedulerSilent: half bound and no word why, NodeRejected: a kubelet
//                        refused one): pods that have a controller are evicted, the others must be
//                        deleted by hand
// Pods are ungated only while as many wait as there are workers; later a controller's new pod for a
// worker that has gone takes that worker's node. When no ungated pod is left the nodes are given
// back (Placed=False), those that refused are left out for a while, and the planner decides anew,
// no sooner than status.retry says (retry.h).
// Cost  O(pods log pods).
//
// One that IsPlanned does not hold for only gets the condition Placed=False, NoPodSelector.
UngateStep NextUngateStep(const GangView& view, const LifeOptions& options);

// Whether the running operator plans the Placement: it selects pods, or a TrainingJob or a Workload
// of Kueue owns it. Other Placements would hold nodes for ever, without a pod or a quota.
bool IsPlanned(const api::Placement& placement);

// The JSON merge patch of `status` that writes it.
nlohmann::ordered_json PatchOf(const PlacementStatus& status);

}  // namespace weft::life
