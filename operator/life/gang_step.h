#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/base/timestamp.h"
#include "operator/cluster/foreign_gang.h"
#include "operator/cluster/worker_order.h"
#include "operator/life/bind_window.h"
#include "operator/life/job_step.h"
#include "operator/life/job_view.h"
#include "operator/life/placement_status.h"

namespace weft::life {

using cluster::kPlacementUidAnnotation;  // kWorkerIndexLabel, an annotation too, has its worker

// A Placement with a podSelector, and the pods of other controllers that it selects. Points into a
// snapshot.
struct GangView {
  const api::Placement* placement = nullptr;
  // Without pods of TrainingJobs; of a Placement of a Workload of Kueue also the pods of its
  // earlier reservations that have Succeeded.
  std::vector<const api::Pod*> pods;
  // Workers that have succeeded, whether their pods are still there or not: Kueue's count.
  std::uint32_t succeeded = 0;
  NodeStates node_state;  // null: all nodes are Ready
  GangGroup group = {};
  UnixSeconds now = 0;
  UnixSeconds ask_at = 0;  // when AskJob may be carried out again
};

// In one update, each pod gets the affinity to its worker's node and loses the gate.
struct UngatePods {
  std::vector<cluster::WorkerPod> pods;
};
struct EvictPods {
  std::vector<const api::Pod*> pods;
};
struct WritePlacement {
  PlacementStatus status;
};
// Reads the Job that is short of pods, and remembers which workers have succeeded.
struct AskJob {
  api::OwnerReference job;
};
using UngateStep = std::variant<UngatePods, EvictPods, WritePlacement, AskJob, Wait>;

// What to do next for a Placement of pods that Weft does not own. Pure and level-based: all its
// input is in the API server, so a new leader continues where the last one stopped.
//
// The planner writes status.nodes when enough pods wait. The nodes stay the same while any pod that
// was ungated for them exists. The condition Verified shows the progress of the gang:
//   absent               no pod is ungated
//   Unknown, Binding     pods are ungated, and kube-scheduler binds them since the transition time
//   Unknown, SchedulerSilent  no pod is bound, and kube-scheduler has reported nothing
//   True, AsPlaced       every pod is bound to its worker's node
//   False, BindRefused   not all bound by the deadline (UngateRefused: not all ungated;
//                        SchedulerSilent: partly bound, no reason reported; NodeRejected: a kubelet
//                        refused a pod). Pods with a controller are evicted; the others must be
//                        deleted by hand
// Pods are first ungated when as many wait as there are workers. A worker whose pod has Succeeded
// is done and needs none: a Job that is suspended and resumed makes only the pods that are left.
// If such pods are gone, their Job is asked; status.completedIndexes remembers the answer.
// Later, a controller's new pod for a worker whose pod is gone gets that worker's node. When no
// ungated pod is left, the nodes are released (Placed=False), nodes that refused are excluded for a
// while, and the planner decides again, not before the time in status.retry (retry.h).
// Cost  O(pods log pods).
//
// If IsPlanned is false, the Placement only gets the condition Placed=False, NoPodSelector.
UngateStep NextUngateStep(const GangView& view, const LifeOptions& options);

// Whether the operator plans the Placement: it has a podSelector, or a TrainingJob or a Workload of
// Kueue owns it. Other Placements would hold nodes for ever, without pods or quota.
bool IsPlanned(const api::Placement& placement);
// Whether it waits for nodes by itself: those that a job or a Workload controls are asked for with
// these.
bool WaitsForNodes(const api::Placement& placement);

}  // namespace weft::life
