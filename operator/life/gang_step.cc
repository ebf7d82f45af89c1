#include "operator/life/gang_step.h"

#include <algorithm>
#include <set>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/kueue.h"
#include "operator/base/check.h"
#include "operator/base/seeded_bug.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/text.h"
#include "operator/cluster/workload.h"
#include "operator/life/bind_window.h"
#include "operator/life/exclusion.h"
#include "operator/life/fault.h"

namespace weft::life {
namespace {

using cluster::WorkerPod;

constexpr const char* kPlaced = "Placed";
constexpr const char* kVerifiedType = "Verified";
// Reasons of conditions.
constexpr const char* kBinding = "Binding";
constexpr const char* kSchedulerSilent = "SchedulerSilent";
constexpr const char* kAsPlaced = "AsPlaced";
constexpr const char* kElsewhere = "Elsewhere";  // bound, but to another node than the worker's
constexpr const char* kBindRefused = "BindRefused";
constexpr const char* kUngateRefused = "UngateRefused";
constexpr const char* kNodeRejected = "NodeRejected";
constexpr const char* kWorkerIndexInvalid = "WorkerIndexInvalid";
constexpr const char* kWaitingForPods = "WaitingForPods";
constexpr const char* kPodsGone = "PodsGone";
constexpr const char* kNoPodSelector = "NoPodSelector";

// A Job makes its pods one soon after the other; then it is asked.
constexpr std::int64_t kMoreToComeSeconds = 10;

// The progress of the gang, read from the condition Verified.
enum class GangStage : std::uint8_t {
  kNone,      // absent: no pod is ungated
  kInWindow,  // Unknown: the bind window is open
  kSilent,    // Unknown: kube-scheduler has not tried any of its pods
  kUndoing,   // False: the gang is being taken down
  kJudged,    // True, or False if pods are on other nodes
};

GangStage GangStageOf(const api::Condition* verified) {
  if (verified == nullptr) return GangStage::kNone;
  const std::string& reason = verified->reason;
  if (verified->status == "Unknown") {
    return reason == kSchedulerSilent ? GangStage::kSilent : GangStage::kInWindow;
  }
  const bool refused = reason == kBindRefused || reason == kUngateRefused ||
                       reason == kNodeRejected || reason == kSchedulerSilent;
  return verified->status == "False" && refused ? GangStage::kUndoing : GangStage::kJudged;
}

std::string PodNames(const std::vector<const api::Pod*>& pods) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, pods.size()); ++i) {
    text += (i == 0 ? "" : ", ") + pods[i]->meta.key.name;
  }
  return pods.size() <= kShown ? text : text + ", ...";
}

bool HasController(const api::Pod& pod) {
  return std::any_of(pod.meta.owners.begin(), pod.meta.owners.end(),
                     [](const api::OwnerReference& owner) { return owner.controller; });
}

std::string Count(std::size_t count, std::string_view noun) {
  return CountText(static_cast<std::int64_t>(count), noun);
}

class Gang {
 public:
  Gang(const GangView& view, const LifeOptions& options)
      : placement_(*view.placement), view_(view), now_(view.now), options_(options) {
    status_.conditions = placement_.conditions;
    status_.excluded = placement_.excluded;
    status_.retry = placement_.retry;
    stage_ = GangStageOf(Verified());
    taken_.resize(placement_.nodes.size(), nullptr);
    for (const api::Pod* pod : view.pods) Sort(*pod);
    FindDone();
    WEFT_CHECK(unbound_.size() <= ours_.size() && elsewhere_.size() <= ours_.size());
    WEFT_CHECK(done_.size() <= placement_.nodes.size());  // a worker is done once
  }

  UngateStep Next() {
    if (placement_.meta.deleting) return Wait{};
    if (!IsPlanned(placement_)) return Refuse();
    if (!placement_.pod_selector) return Wait{};
    if (placement_.nodes.empty()) return AwaitNodes();
    if (stage_ == GangStage::kUndoing) return Undo();
    if (rejected_.pod != nullptr) return UndoRejected();
    if (ours_.empty()) {
      if (stage_ == GangStage::kNone) return Begin();
      if (!InWindow()) return Over();
      if (IsShortOfPods()) return AwaitPods(kVerifiedType);
    }
    if (IsLosingPods()) return AwaitGone();
    if (!gated_.empty()) return HandOver();
    if (!unbound_.empty()) return AwaitBinding();
    return Judge();
  }

 private:
  void Sort(const api::Pod& pod) {
    const auto mark = pod.meta.annotations.find(kPlacementUidAnnotation);
    const bool marked = mark != pod.meta.annotations.end() && mark->second == placement_.meta.uid;
    if (!marked || !pod.scheduling_gates.empty()) {
      if (cluster::IsGated(pod) && !pod.meta.deleting) gated_.push_back(&pod);
      return;
    }
    const auto worker = MarkedWorker(pod);
    if (!worker) return;
    WEFT_CHECK(*worker < taken_.EndIndex());
    const std::string& node = placement_.nodes[worker->Raw()];
    if (pod.HasEnded()) {
      ended_.insert(*worker);
      // A rejection on another node belongs to an earlier decision.
      if (IsRejected(pod) && pod.node_name == node) rejected_ = {&pod, *worker};
      return;
    }
    if (!Runs(pod).may_run) return;
    ours_.push_back(&pod);
    if (!pod.meta.deleting) taken_[*worker] = &pod;
    if (pod.node_name.empty()) unbound_.push_back({&pod, *worker});
    if (!pod.node_name.empty() && pod.node_name != node) elsewhere_.push_back(&pod);
  }

  std::optional<WorkerIndex> MarkedWorker(const api::Pod& pod) const {
    return cluster::MarkedWorker(pod, placement_.nodes.size());
  }

  void FindDone() {
    const auto done =
        cluster::DoneWorkers(placement_, placement_.nodes.size(), view_.pods, gated_, ours_.size());
    for (const WorkerIndex worker : done.Indices()) {
      if (done[worker] == nullptr) continue;
      done_.insert(worker);
      if (taken_[worker] == nullptr) taken_[worker] = done[worker];
    }
  }
  // How many workers need no pod any more. Pods of some may be gone: an administrator deleted them,
  // or their node left.
  std::size_t CountDone(std::size_t with_pods) const {
    return std::max<std::size_t>(with_pods, std::min(view_.succeeded, placement_.workers));
  }
  bool IsShortOfPods() const {
    return gated_.size() + CountDone(done_.size()) < placement_.workers;
  }

  NodeState StateOfNode(const std::string& node) const {
    return view_.node_state ? view_.node_state(node) : NodeState{};
  }
  Running Runs(const api::Pod& pod) const {
    return MayRun(pod, StateOfNode(pod.node_name), {now_, options_.node_loss_seconds});
  }
  bool IsLosingPods() const {
    return std::any_of(ours_.begin(), ours_.end(),
                       [](const api::Pod* pod) { return pod->meta.deleting; });
  }
  // Seconds until the first pod that is being deleted counts as gone; its node may still become
  // lost.
  std::int64_t UntilGone() const {
    std::int64_t soonest = options_.node_loss_seconds;
    for (const api::Pod* pod : ours_) {
      if (const auto left = Runs(*pod).left) soonest = std::min(soonest, *left);
    }
    return std::max<std::int64_t>(1, soonest);
  }

  const api::Condition* Find(std::string_view type) const {
    return api::FindCondition(placement_.conditions, type);
  }
  const api::Condition* Verified() const { return Find(kVerifiedType); }
  bool InWindow() const { return stage_ == GangStage::kInWindow; }

  BindWindow WindowSince(std::string_view type) const {
    const api::Condition* condition = Find(type);
    const auto since = condition ? ParseTime(condition->last_transition_time) : std::nullopt;
    return {.opened = since.value_or(now_),
            .silent = false,
            .seconds = options_.bind_deadline_seconds + placement_.workers / kCreatesPerSecond};
  }
  // Seconds left of the gang's window, which began at the condition's transition. The limit is for
  // a transition time written by a clock that was ahead.
  std::int64_t Left(std::string_view type) const {
    const BindWindow window = WindowSince(type);
    return std::min(WindowLeft(window, now_), window.seconds + kClockSkewSeconds);
  }

  void Set(const char* type, const char* value, const char* reason, std::string message) {
    api::PutCondition(status_.conditions, {type, value, reason, std::move(message), ""}, now_);
  }

  UngateStep Mark(const char* value, const char* reason, std::string message) {
    Set(kVerifiedType, value, reason, std::move(message));
    if (status_.conditions == placement_.conditions) return Wait{};
    return WritePlacement{std::move(status_)};
  }

  // Refuses a Placement that IsPlanned does not allow: the operator could never release its nodes.
  UngateStep Refuse() {
    Set(kPlaced, "False", kNoPodSelector,
        "the operator places only Placements that have a podSelector or belong to a TrainingJob "
        "or a Workload; use `weft plan` for any other");
    status_.keeps_nodes = placement_.nodes.empty();
    if (status_.conditions == placement_.conditions && status_.keeps_nodes) return Wait{};
    return WritePlacement{std::move(status_)};
  }

  // Opens a window that begins now, even after an earlier one.
  UngateStep Open() {
    const auto ready = ReadySeconds();
    if (ready && *ready >= PolicyOf(Cause::kSchedulerRefused).lasting_seconds) status_.retry = {};
    Set(kVerifiedType, "Unknown", kBinding,
        Count(gated_.size() + unbound_.size(), "pod") + " handed to kube-scheduler");
    for (api::Condition& condition : status_.conditions) {
      if (condition.type == kVerifiedType) condition.last_transition_time = FormatTime(now_);
    }
    return WritePlacement{std::move(status_)};
  }

  // Releases the nodes, which have no pod any more. A condition that says why nodes refused stays.
  UngateStep Release(const char* reason, std::string message) {
    WEFT_CHECK(ours_.empty());  // no pod holds one of the nodes
    if (stage_ != GangStage::kUndoing) {
      std::erase_if(status_.conditions, [](const auto& c) { return c.type == kVerifiedType; });
    }
    Set(kPlaced, "False", reason, std::move(message));
    status_.keeps_nodes = false;
    return WritePlacement{std::move(status_)};
  }

  // The planner gives nodes when a pod waits for each worker that needs one. If pods stay missing,
  // their Job may have counted workers as done whose pods nobody has seen succeed: those of a
  // program that ended well when it was evicted, or while no operator led.
  UngateStep AwaitNodes() const {
    const api::OwnerReference* job = cluster::JobOf(gated_);
    if (job == nullptr || Seeded(Bug::kDoneForgotten)) return Wait{};
    const auto done = cluster::DoneWorkers(placement_, placement_.workers, view_.pods, gated_, 0);
    const auto needed = std::count(done.begin(), done.end(), nullptr);
    if (std::ssize(gated_) >= needed) return Wait{};
    UnixSeconds due = view_.ask_at;
    for (const api::Pod* pod : gated_) {
      const UnixSeconds made = ParseTime(pod->meta.creation_timestamp).value_or(0);
      // Not of a clock that is far ahead.
      if (made <= now_ + kClockSkewSeconds) due = std::max(due, made + kMoreToComeSeconds);
    }
    if (due > now_) return Wait{due - now_};
    return AskJob{*job};
  }

  // Waits until all pods exist, before the first is ungated; after a time the nodes are released.
  UngateStep AwaitPods(std::string_view since) {
    // The pods of a Workload of Kueue start when all its checks are Ready, which may take hours;
    // the Placement goes with the quota (kueue_check.h).
    if (since == kPlaced && api::ControllingWorkload(placement_.meta)) return Wait{};
    if (const std::int64_t left = Left(since); left > 0) return Wait{left};
    const std::size_t done = CountDone(done_.size());
    WEFT_CHECK(done < placement_.workers);  // pods are missing
    return Release(kWaitingForPods, "nodes were found, but only " + std::to_string(gated_.size()) +
                                        " of " + Count(placement_.workers - done, "pod") +
                                        " waited for them");
  }

  UngateStep Begin() {
    if (IsShortOfPods()) return AwaitPods(kPlaced);
    const auto assigned = cluster::AssignWorkers(placement_, gated_, taken_);
    if (!assigned) return Release(kWorkerIndexInvalid, assigned.error().message);
    return Open();
  }

  // All ungated pods have ended or are gone. If every worker's pod has ended and no new pod waits,
  // the gang is done; otherwise the nodes are released, as nothing else would do so.
  UngateStep Over() {
    std::set<WorkerIndex> over = done_;
    over.insert(ended_.begin(), ended_.end());
    if (gated_.empty() && CountDone(over.size()) == placement_.workers) return Wait{};
    return Release(kPodsGone, "the pods of this Placement have ended or are gone");
  }

  UngateStep AwaitGone() {
    const std::int64_t gone = UntilGone();
    if (!InWindow()) return Wait{gone};
    if (const std::int64_t left = Left(kVerifiedType); left > 0) return Wait{std::min(gone, left)};
    return StartUndo(Cause::kSchedulerSilent, kBindRefused, {},
                     "pods of the gang were still being deleted at the bind deadline");
  }

  UngateStep HandOver() {
    auto assigned = cluster::AssignWorkers(placement_, gated_, taken_);
    if (!assigned && ours_.empty()) {
      return Release(kWorkerIndexInvalid, assigned.error().message);
    }
    if (!assigned) {
      if (InWindow() && !unbound_.empty()) return AwaitBinding();
      return Mark("False", kWorkerIndexInvalid, assigned.error().message);
    }
    if (!InWindow()) return Open();
    if (Left(kVerifiedType) > 0) return UngatePods{*std::move(assigned)};
    return StartUndo(
        Cause::kAdmissionRefused, kUngateRefused, {},
        "some pods kept their scheduling gate past the bind deadline: " + PodNames(gated_));
  }

  UngateStep AwaitBinding() {
    std::vector<GangMember> gang;
    for (const api::Pod* pod : ours_) {
      if (!pod->node_name.empty()) gang.push_back({.pod = pod});
    }
    WEFT_CHECK(!gang.empty() || !unbound_.empty());
    for (const WorkerPod& one : unbound_) {
      const std::string& node = placement_.nodes[one.worker.Raw()];
      gang.push_back({one.pod, &node, StateOfNode(node).exists});
    }
    BindWindow window = WindowSince(kVerifiedType);
    if (!InWindow()) window.opened.reset();
    window.silent = stage_ == GangStage::kSilent;
    BindVerdict verdict = JudgeBinding(gang, view_.group, window, now_);
    switch (verdict.binding) {
      case Binding::kOpen:
        return Open();
      case Binding::kSilent:
        return Mark("Unknown", kSchedulerSilent, std::move(verdict.message));
      case Binding::kUndo:
        return StartUndo(
            verdict.cause,
            verdict.cause == Cause::kSchedulerRefused ? kBindRefused : kSchedulerSilent,
            verdict.refused, std::move(verdict.message));
      case Binding::kDone:
      case Binding::kGated:
      case Binding::kWait:
        break;
    }
    return Wait{Left(kVerifiedType)};
  }

  UngateStep Judge() {
    if (elsewhere_.empty()) {
      return Mark("True", kAsPlaced, "every pod is bound to its worker's node");
    }
    return Mark("False", kElsewhere, "pods not on their worker's node: " + PodNames(elsewhere_));
  }

  // Takes the gang down: a new pod of that worker would go to the same node and be rejected again.
  UngateStep UndoRejected() {
    const std::string& node = rejected_.pod->node_name;
    return StartUndo(Cause::kNodeRejected, kNodeRejected, {node},
                     "the kubelet of " + node + " rejected pod " + rejected_.pod->meta.key.name +
                         " (" + rejected_.pod->reason + ")");
  }

  // How long the gang was bound as placed; nothing if it was not.
  std::optional<std::int64_t> ReadySeconds() const {
    if (Verified() == nullptr || Verified()->status != "True") return std::nullopt;
    return now_ - ParseTime(Verified()->last_transition_time).value_or(now_);
  }

  UngateStep StartUndo(Cause cause, const char* reason, const std::vector<std::string>& refused,
                       std::string message) {
    if (PolicyOf(cause).leave == Leave::kOut) {
      message += DroppedText(Exclude(refused, now_, status_.excluded));
    }
    std::vector<const api::Pod*> plain;
    for (const api::Pod* pod : ours_) {
      if (!HasController(*pod)) plain.push_back(pod);
    }
    if (!plain.empty()) {
      message += "; " + Count(plain.size(), "pod") +
                 " without a controller must be deleted by hand: " + PodNames(plain);
    }
    status_.retry = NextRetry(placement_.retry,
                              {.cause = cause,
                               .uid = placement_.meta.uid,
                               .attempt = placement_.retry.times,
                               .ready_seconds = ReadySeconds()},
                              now_);
    return Mark("False", reason, message + RetryText(status_.retry));
  }

  UngateStep Undo() {
    std::vector<const api::Pod*> evicted;
    for (const api::Pod* pod : ours_) {
      if (HasController(*pod) && !pod->meta.deleting) evicted.push_back(pod);
    }
    if (!evicted.empty()) return EvictPods{std::move(evicted)};
    if (ours_.empty()) {
      WEFT_CHECK(Verified() != nullptr);  // it said so
      const std::string reason = Verified()->reason, message = Verified()->message;
      return Release(reason.c_str(), message);
    }
    if (IsLosingPods()) return Wait{UntilGone()};
    // Some pods could not be evicted, and all are bound after all.
    if (unbound_.empty() && ours_.size() + CountDone(done_.size()) == placement_.workers) {
      return Judge();
    }
    return Wait{};
  }

  const api::Placement& placement_;
  const GangView& view_;
  const UnixSeconds now_;
  const LifeOptions& options_;
  PlacementStatus status_;
  GangStage stage_ = GangStage::kNone;
  std::vector<const api::Pod*> gated_;      // wait for this Placement
  std::vector<const api::Pod*> ours_;       // ungated for this Placement, and alive
  std::vector<WorkerPod> unbound_;          // of ours
  std::vector<const api::Pod*> elsewhere_;  // of ours
  ByWorker<const api::Pod*> taken_;         // of ours, to stay
  std::set<WorkerIndex> ended_;             // workers whose pod was ungated and has ended
  std::set<WorkerIndex> done_;              // workers that need no pod any more
  WorkerPod rejected_;                      // by the kubelet of its worker's node
};

}  // namespace

bool IsPlanned(const api::Placement& placement) {
  if (Seeded(Bug::kOwnerlessPlanned) && !placement.meta.owners.empty()) return true;
  return placement.pod_selector || api::ControllingJob(placement.meta) ||
         api::ControllingWorkload(placement.meta);
}

bool WaitsForNodes(const api::Placement& placement) {
  return cluster::LacksNodes(placement) && IsPlanned(placement) &&
         !api::ControllingJob(placement.meta) && !api::ControllingWorkload(placement.meta);
}

UngateStep NextUngateStep(const GangView& view, const LifeOptions& options) {
  return Gang(view, options).Next();
}

}  // namespace weft::life
