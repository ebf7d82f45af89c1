#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operator/api/kueue.h"
#include "operator/api/placement.h"
#include "operator/base/refusal.h"
#include "operator/life/kueue_check_step.h"

namespace weft::life {

// Weft as the controller of Kueue's AdmissionChecks. A Workload with reserved quota gets nodes for
// each of its pod sets before Kueue admits it, so that its pods start on nodes that are free.

// Label of a Placement: the pod set of the Workload.
inline constexpr const char* kPodSetLabel = "kueue.x-k8s.io/podset";

// Between the Workload's uid and the time in the name of a reservation.
inline constexpr char kReservationMark = '@';
// Names the Workload's present quota reservation. The next reservation has another name.
std::string ReservationOf(const api::Workload& workload);

struct CheckOptions {
  // How long a Workload may hold quota without nodes, before its quota is given back (Retry).
  std::int64_t hold_seconds = 600;
  // Of the operator; "": any (kueue_check_crash.h).
  std::string version;
};

// The TrainingJob that owns a Workload. It is planned as a job, not for its Workload
// (kueue_quota.h).
struct QueuedJob {
  // Of its coming or current attempt; null: no nodes yet.
  const api::Placement* placement = nullptr;
  std::optional<Refusal> refusal;  // RefusalOf, or the planner's
};

// A Workload of Kueue with all that the answer of its check depends on. Points into a snapshot.
struct CheckView {
  const api::Workload* workload = nullptr;
  std::vector<const api::AdmissionCheck*> checks;     // of Weft, that the Workload names
  std::vector<const api::Placement*> placements;      // that the Workload controls
  QueuedJob job;                                      // that controls the Workload
  std::function<bool(const api::Placement&)> in_use;  // whether a pod of it may still run
  std::function<const api::ResourceFlavor*(const std::string&)> flavor;  // null: does not exist
  // As built; only called for pod sets with topology annotations of Kueue.
  std::function<std::vector<const fabric::FabricSpec*>()> fabrics;
  // The planner's refusal of what was asked for under this name.
  std::function<std::optional<Refusal>(const std::string& reservation)> refusal;
  UnixSeconds now = 0;
  // When WaitsForWeft became true, by the clock of `now`; unused while it is false. The times in
  // the Workload are by the clocks of others: a clock that is ahead of theirs by hold_seconds would
  // make each refusal a Retry at once.
  UnixSeconds waits_since = 0;
};

// Whether the Workload has its quota and every other check is Ready, so that it holds quota for
// Weft's answer alone.
bool WaitsForWeft(const CheckView& view);

// What to do next for one Workload. Pure and level-based, as NextStep.
//
//   quota reserved, Pending   nodes are asked for; then Ready, and the pods get the label
//                             weft.dev/placement with the name of their pod set's Placement
//     no room now             Pending with the planner's sentence; after hold_seconds Retry, and
//                             Kueue queues the Workload again, behind others of its priority. It
//                             has no requeueAfterSeconds: with it Kueue 0.19 keeps the quota for so
//                             long
//     never any room          Rejected, and Kueue deactivates the Workload
//                             Neither Retry nor Rejected while another check is not Ready: it may
//                             add nodes
//   Ready                     the Placements stay, and get other nodes if they lose theirs
//   no quota, evicted, ended  each Placement is deleted when none of its pods may run any more;
//                             until then its nodes stay in use. A Ready answer that is left over
//                             from an earlier reservation becomes Pending
// The Workload of a TrainingJob gets the same answers, but its nodes are those of the job's own
// Placement, and its pods get no label.
// A Placement is named after the Workload, the pod set and the time of the reservation, so pods of
// an earlier reservation never belong to a later one.
CheckStep NextCheckStep(const CheckView& view, const CheckOptions& options);

// Whether the Workload's request stays with the planner before this step. An answer but Pending
// ends it, once it is written: without the refusal of which it tells, a write that fails would be
// followed by another plan and not by a pause.
bool StillAsks(const CheckStep& step);
// Whether Weft has answered Ready for all of these checks.
bool AllReady(const CheckView& view);
// The Placement that a TrainingJob's Workload stands for: with nodes, of its coming attempt, or of
// its current one while the job is placed; nullptr if there is none.
const api::Placement* CurrentPlacement(
    const api::TrainingJob& job, std::span<const std::shared_ptr<const api::Placement>> placements);

// The JSON merge patch of a Workload's status that writes the answer. It contains all entries of
// status.admissionChecks, so it is valid only for this state of the Workload (uid and
// resourceVersion).
nlohmann::ordered_json PatchOf(const api::Workload& workload, const AnswerCheck& answer,
                               UnixSeconds now);

// The condition Active of an AdmissionCheck. spec.parameters may name a Fabric.
api::Condition ActiveCondition(const api::AdmissionCheck& check,
                               const std::function<bool(const std::string&)>& has_fabric);

// The name of a pod set's Placement, which is also the value of a label (at most 63 characters).
std::string CheckedPlacementName(const api::Workload& workload, const std::string& pod_set);

// How many pods of the pod set that the Placement stands for have succeeded, as the Workload says;
// 0 if the Placement is of another Workload.
std::uint32_t SucceededPods(const api::Workload& workload, const api::ObjectMeta& placement);

}  // namespace weft::life
