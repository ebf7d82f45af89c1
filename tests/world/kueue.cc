#include "tests/world/kueue.h"

#include <algorithm>
#include <utility>

namespace weft::world {
namespace {

constexpr const char* kWorkloadsName = "workloads.kueue.x-k8s.io";
constexpr std::int64_t kBackoffBase = 60, kBackoffMost = 3'600;  // of waitForPodsReady

std::string ReasonOf(const Json& workload, const char* condition) {
  return TextAt(ConditionOf(workload, condition), {"reason"});
}

std::int64_t SinceOf(const Json& workload, const char* condition) {
  return TimeAt(ConditionOf(workload, condition), {"lastTransitionTime"});
}

std::vector<std::string> ChecksOf(const Json& cluster_queue) {
  std::vector<std::string> names;
  for (const Json& one :
       At(cluster_queue, {"spec", "admissionChecksStrategy", "admissionChecks"})) {
    names.push_back(TextAt(one, {"name"}));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string StopPolicyOf(const Json& queue) {
  const std::string policy = TextAt(queue, {"spec", "stopPolicy"});
  return policy.empty() ? "None" : policy;
}

std::string NamesIn(const Json& workload, const char* state) {
  std::string names;
  for (const Json& one : At(workload, {"status", "admissionChecks"})) {
    if (TextAt(one, {"state"}) != state) continue;
    names += (names.empty() ? "\"" : "; \"") + TextAt(one, {"name"}) + "\" (" +
             TextAt(one, {"message"}) + ")";
  }
  return std::string("AdmissionCheck in ") + state + " state: " + names;
}

// Of a Workload in a queue, what matters for its turn.
bool QueueOrderChanged(const Json& before, const Json& now) {
  return At(before, {"spec"}) != At(now, {"spec"}) ||
         ConditionOf(before, "Evicted") != ConditionOf(now, "Evicted") ||
         ConditionOf(before, "Requeued") != ConditionOf(now, "Requeued");
}

}  // namespace

Kueue::Kueue(Fibers& fibers, ApiServer& server, Options options)
    : fibers_(fibers),
      api_(server, "kueue"),
      options_(std::move(options)),
      chance_(options_.seed) {}

void Kueue::OnChange(const Change& change) {
  if (!works()) return;
  const bool gone = change.type == Change::Type::kDeleted;
  if (change.resource == kWorkloadsName) {
    const Json& now = *change.object;
    const bool had = change.before && IsTrue(*change.before, "QuotaReserved");
    const bool frees = gone || IsTrue(now, "Finished") || !IsTrue(now, "QuotaReserved") ||
                       At(now, {"spec", "active"}) == Json(false);
    if (!gone) ReconcileSoon(change.key);
    if (gone || (had && frees) || (change.before && QueueOrderChanged(*change.before, now))) {
      TryAgain(change.key);
    }
    if (gone || !IsAdmissible(now)) DoNotTryOnce(change.key);
    if (had && frees) TryAllAgain(TextAt(*change.before, {"status", "admission", "clusterQueue"}));
    return ScheduleSoon();
  }
  const bool queues = change.resource == "clusterqueues.kueue.x-k8s.io" ||
                      change.resource == "localqueues.kueue.x-k8s.io";
  if (queues) OnQueueChange(change);
  if (change.resource == "clusterqueues.kueue.x-k8s.io") TryAllAgain(change.key.name);
  if (change.resource == "admissionchecks.kueue.x-k8s.io" ||
      change.resource == "resourceflavors.kueue.x-k8s.io") {
    TryAllAgain();
  }
}

// Its Workloads are looked at again only after these changes of a queue. One that goes on, or is
// new, has all of them tried (AddFromLocalQueue in pkg/cache/queue/cluster_queue.go).
void Kueue::OnQueueChange(const Change& change) {
  const auto same = [&](std::initializer_list<const char*> path) {
    return At(*change.before, path) == At(*change.object, path);
  };
  if (change.type == Change::Type::kModified && !IsDeleting(*change.object) &&
      same({"spec", "admissionChecksStrategy"}) && same({"spec", "stopPolicy"})) {
    return;
  }
  const bool local = !change.key.space.empty();
  const bool goes_on = local && change.type != Change::Type::kDeleted &&
                       !IsDeleting(*change.object) && StopPolicyOf(*change.object) == "None";
  for (const auto& [key, workload] : api_.server().All(kWorkloadsName)) {
    const auto queue = QueueOf(*workload);
    const bool its = local ? key.space == change.key.space &&
                                 TextAt(*workload, {"spec", "queueName"}) == change.key.name
                           : queue && TextAt(*queue, {"spec", "clusterQueue"}) == change.key.name;
    if (!its) continue;
    ReconcileSoon(key);
    TryAgain(key);
    if (local) DoNotTryOnce(key);
    if (goes_on) TryOnce(TextAt(*change.object, {"spec", "clusterQueue"}), *workload);
  }
  ScheduleSoon();
}

void Kueue::SetDown(bool down) {
  down_ = down;
  Resync();
}

void Kueue::SetSilent(bool silent) {
  silent_ = silent;
  Resync();
}

void Kueue::Resync() {
  if (!works()) return;
  for (const auto& [key, object] : api_.server().All(kWorkloadsName)) ReconcileSoon(key);
  TryAllAgain();
}

void Kueue::ReconcileSoon(const api::ObjectKey& key) {
  if (!due_.insert(key).second) return;
  const auto most = static_cast<std::uint64_t>(options_.most_delay.count());
  std::uint64_t delay = 1 + chance_.Below(most);
  if (chance_.Below(50) == 0) delay *= 20;
  fibers_.After(Millis(delay), [this, key] {
    due_.erase(key);
    Reconcile(key);
  });
}

void Kueue::Visit(const api::ObjectKey& key, std::int64_t at) {
  const std::int64_t wait = std::max<std::int64_t>(0, at - options_.now_seconds());
  fibers_.After(std::chrono::seconds(wait) + Millis(1), [this, key] { ReconcileSoon(key); });
}

void Kueue::Write(const api::ObjectKey& key, const Json& before, const WorkloadStatus& now) {
  const Json patch = now.PatchOf(before);
  if (!patch.is_null()) api_.Patch(kube::kWorkloads, key, patch, "status");
}

bool Kueue::Apply(const api::ObjectKey& key, const Edit& edit) {
  const auto object = api_.Find(kube::kWorkloads, key);
  if (!object) return false;
  WorkloadStatus now(*object, options_.now_seconds());
  edit(now);
  const Json patch = now.PatchOf(*object);
  return !patch.is_null() && api_.Patch(kube::kWorkloads, key, patch, "status") / 100 == 2;
}

bool Kueue::Preempt(const api::ObjectKey& workload) {
  const auto object = api_.Find(kube::kWorkloads, workload);
  if (!works() || !object || !IsTrue(*object, "QuotaReserved") || IsTrue(*object, "Evicted") ||
      IsTrue(*object, "Finished") || At(*object, {"spec", "active"}) == Json(false)) {
    return false;
  }
  return Apply(workload, [](WorkloadStatus& now) {
    const std::string why = "Preempted to accommodate a workload of higher priority";
    now.Set("Preempted", true, "InClusterQueue", why);
    now.Evict("Preempted", why);
  });
}

std::shared_ptr<const Json> Kueue::QueueOf(const Json& workload) const {
  return api_.Find(kLocalQueues, {KeyOf(workload).space, TextAt(workload, {"spec", "queueName"})});
}

// The queues do not know a LocalQueue that is stopped.
std::shared_ptr<const Json> Kueue::ClusterQueueOf(const Json& workload) const {
  const auto queue = QueueOf(workload);
  if (!queue || StopPolicyOf(*queue) != "None") return nullptr;
  return api_.Find(kClusterQueues, {"", TextAt(*queue, {"spec", "clusterQueue"})});
}

bool Kueue::IsQueueActive(const Json& cluster_queue) const {
  if (StopPolicyOf(cluster_queue) != "None") return false;
  for (const std::string& name : ChecksOf(cluster_queue)) {
    const auto check = api_.Find(kube::kAdmissionChecks, {"", name});
    if (!check || !IsTrue(*check, "Active")) return false;
  }
  const FlavorUsage nominal = NominalOf(cluster_queue);
  return std::all_of(nominal.begin(), nominal.end(), [&](const auto& one) {
    return api_.Find(kube::kResourceFlavors, {"", one.first.first}) != nullptr;
  });
}

// pkg/controller/core/workload_controller.go, Reconcile: one write at most in each pass.
void Kueue::Reconcile(const api::ObjectKey& key) {
  const auto object = api_.Find(kube::kWorkloads, key);
  if (!works() || !object) return;
  WorkloadStatus now(*object, options_.now_seconds());
  if (ReconcileOrphan(key, now)) return;
  if (now.IsFinished()) return;
  const std::int64_t retry_at = now.RetryAt();
  if (retry_at > options_.now_seconds() && now.RequeueAt() < retry_at) {
    now.SetRequeueAt(retry_at, false);
    return Write(key, *object, now);
  }
  if (now.active()) {
    if (ReconcileActive(key, now)) return Write(key, *object, now);
  } else if (!now.IsEvicted() || At(*object, {"status", "requeueState"}).is_object()) {
    ReconcileInactive(key, now);
    return Write(key, *object, now);
  }
  if (ReconcileQueue(key, now)) return Write(key, *object, now);
  if (!now.IsAdmitted()) {
    if (!now.HasQuota()) SayWhyPending(now);
    now.SyncAdmitted();
    Write(key, *object, now);
    if (!now.PatchOf(*object).is_null()) return;  // the next pass sees it
  }
  if (now.HasQuota() && ReconcileQuota(key, now)) Write(key, *object, now);
}

bool Kueue::ReconcileOrphan(const api::ObjectKey& key, WorkloadStatus& now) {
  const Json object = now.object();
  if (!At(object, {"metadata", "ownerReferences"}).empty()) return false;
  if (IsDeleting(object)) {
    Json left = Json::array();
    for (const Json& one : At(object, {"metadata", "finalizers"})) {
      if (one != Json(kInUse)) left.push_back(one);
    }
    api_.Patch(kube::kWorkloads, key, {{"metadata", {{"finalizers", left}}}});
    return true;
  }
  if (LabelOf(object, kJobUid).empty()) return false;
  if (now.IsFinished()) return false;
  now.Set("Finished", true, "OwnerNotFound", "The owner job was not found");
  Write(key, object, now);
  return true;
}

// True: written, or nothing else to do now.
bool Kueue::ReconcileActive(const api::ObjectKey& key, WorkloadStatus& now) {
  if (IsTrue(now.object(), "DeactivationTarget")) {
    api_.Patch(kube::kWorkloads, key, {{"spec", {{"active", false}}}});
    return true;
  }
  const bool pending = !now.HasQuota();
  if (now.RequeueAt() > 0) {
    if (now.RequeueAt() > options_.now_seconds()) {
      Visit(key, now.RequeueAt());
      return true;
    }
    if (pending) {
      now.ClearRequeueAt();
      TryAgain(key);
      ScheduleSoon();
      return true;
    }
  }
  if (TextAt(ConditionOf(now.object(), "Requeued"), {"status"}) != "False") return false;
  const std::string reason = ReasonOf(now.object(), "Requeued");
  if (reason == "Deactivated") {
    now.SetRequeued(true, "Reactivated", "The workload was reactivated");
    return true;
  }
  if (reason != "PodsReadyTimeout" && reason != "AdmissionCheck") return false;
  now.ClearRequeueAt();
  now.SetRequeued(true, "BackoffFinished", "The workload backoff was finished");
  return true;
}

void Kueue::ReconcileInactive(const api::ObjectKey&, WorkloadStatus& now) {
  if (!now.IsEvicted()) {
    const Json target = ConditionOf(now.object(), "DeactivationTarget");
    std::string reason = "Deactivated", message = "The workload is deactivated";
    if (!target.is_null()) {
      reason += "DueTo" + TextAt(target, {"reason"});
      message += " due to " + TextAt(target, {"message"});
      now.Remove("DeactivationTarget");
    }
    now.Evict(reason, message);
  }
  now.ClearRequeueState();
}

// What its queues say. True: something is to be written.
bool Kueue::ReconcileQueue(const api::ObjectKey&, WorkloadStatus& now) {
  const auto queue = QueueOf(now.object());
  const bool disabled = TextAt(ConditionOf(now.object(), "Requeued"), {"status"}) == "False";
  const std::string reason = ReasonOf(now.object(), "Requeued");
  if (queue && StopPolicyOf(*queue) == "None" && disabled && reason == "LocalQueueStopped") {
    now.SetRequeued(true, "LocalQueueRestarted",
                    "The LocalQueue was restarted after being stopped");
    return true;
  }
  const auto cluster_queue = ClusterQueueOf(now.object());
  if (!cluster_queue) return false;
  if (StopPolicyOf(*cluster_queue) == "None" && disabled && reason == "ClusterQueueStopped") {
    now.SetRequeued(true, "ClusterQueueRestarted",
                    "The ClusterQueue was restarted after being stopped");
    return true;
  }
  return now.SyncChecks(ChecksOf(*cluster_queue));
}

// Of one without quota: the condition QuotaReserved. The scheduler's own words stay.
void Kueue::SayWhyPending(WorkloadStatus& now) const {
  const auto queue = QueueOf(now.object());
  const auto cluster_queue = ClusterQueueOf(now.object());
  const auto say = [&](const std::string& reason, const std::string& message) {
    now.Set("QuotaReserved", false, reason, message);
  };
  if (!now.active()) return say("Deactivated", "The workload is deactivated");
  const std::string name = TextAt(now.object(), {"spec", "queueName"});
  if (!queue) return say("Misconfigured", "LocalQueue " + name + " doesn't exist");
  if (StopPolicyOf(*queue) != "None") {
    return say("Suspended", "LocalQueue " + name + " is inactive");
  }
  const std::string of = TextAt(*queue, {"spec", "clusterQueue"});
  if (!cluster_queue) return say("Misconfigured", "ClusterQueue " + of + " doesn't exist");
  if (!IsQueueActive(*cluster_queue)) {
    return say("Suspended", "ClusterQueue " + of + " is inactive");
  }
  const Json& known = ConditionOf(now.object(), "QuotaReserved");
  if (known.is_null()) return;
  const std::string reason = TextAt(known, {"reason"});
  if (reason == "Deactivated" || reason == "PendingEvaluation" || reason == "Suspended" ||
      reason == "Pending") {
    const std::string like = LikeRefused(of, now.object());
    if (!like.empty()) {
      return say(like,
                 "Bypassed scheduling evaluation because an equivalent workload recently failed");
    }
  }
  static const std::set<std::string> kOfScheduler = {
      "NoMatchingFlavor",        "WaitingForQuota",
      "ExceedsMaxQuota",         "WaitingForPreemptedWorkloads",
      "TopologyPlacementFailed", "WaitingForPodsReady"};
  if (kOfScheduler.contains(reason)) return;
  say("PendingEvaluation", "Workload is pending evaluation in the scheduling queue");
}

// Of one with quota. True: something is to be written.
bool Kueue::ReconcileQuota(const api::ObjectKey& key, WorkloadStatus& now) {
  if (!now.IsEvicted() && now.HasCheck("Rejected")) {
    now.Set("DeactivationTarget", true, "AdmissionCheck", NamesIn(now.object(), "Rejected"));
    return true;
  }
  if (!now.IsEvicted() && now.HasCheck("Retry")) {
    now.Evict("AdmissionCheck", "Evicted due to " + NamesIn(now.object(), "Retry"));
    return true;
  }
  const auto queue = QueueOf(now.object());
  const auto cluster_queue = ClusterQueueOf(now.object());
  const std::string name = TextAt(now.object(), {"spec", "queueName"});
  const std::string of = TextAt(now.object(), {"status", "admission", "clusterQueue"});
  const std::string policy = queue ? StopPolicyOf(*queue) : "None",
                    cluster_policy = cluster_queue ? StopPolicyOf(*cluster_queue) : "None";
  if (now.IsAdmitted()) {
    if (!now.IsEvicted() && policy == "HoldAndDrain") {
      now.Evict("LocalQueueStopped", "The LocalQueue is stopped");
      return true;
    }
    if (!now.IsEvicted() && cluster_policy == "HoldAndDrain") {
      now.Evict("ClusterQueueStopped", "The ClusterQueue is stopped");
      return true;
    }
    return ReconcileTimes(key, now);
  }
  if (!queue || IsDeleting(*queue)) {
    now.Unset("Misconfigured", "LocalQueue " + name + " is terminating or missing");
    return true;
  }
  if (policy != "None") {
    now.Unset("Suspended", "LocalQueue " + name + " is stopped");
    return true;
  }
  if (!cluster_queue || IsDeleting(*cluster_queue)) {
    now.Unset("Misconfigured", "ClusterQueue " + of + " is terminating or missing");
    return true;
  }
  if (cluster_policy == "None") return false;
  now.Unset("Suspended", "ClusterQueue " + of + " is stopped");
  return true;
}

// Of an admitted one: how long it may take to start, and run.
bool Kueue::ReconcileTimes(const api::ObjectKey& key, WorkloadStatus& now) {
  const std::int64_t at = options_.now_seconds(), admitted = SinceOf(now.object(), "Admitted");
  const std::int64_t most = NumberAt(now.object(), {"spec", "maximumExecutionTimeSeconds"});
  const std::int64_t past =
      NumberAt(now.object(), {"status", "accumulatedPastExecutionTimeSeconds"});
  if (now.active() && !now.IsEvicted() && !IsTrue(now.object(), "PodsReady")) {
    const bool recovers = ReasonOf(now.object(), "PodsReady") == "WaitForRecovery";
    const std::int64_t due = (recovers ? SinceOf(now.object(), "PodsReady") : admitted) +
                             options_.pods_ready_timeout.count();
    if (at >= due) {
      now.Evict("PodsReadyTimeout", "Exceeded the PodsReady timeout " + api::Show(key));
      const std::int64_t count = NumberAt(now.object(), {"status", "requeueState", "count"});
      const std::int64_t wait =
          std::min(kBackoffMost, kBackoffBase << std::min<std::int64_t>(count, 10));
      now.SetRequeueAt(at + wait, true);
      return true;
    }
    Visit(key, due);
  }
  if (most == 0 || IsTrue(now.object(), "DeactivationTarget")) return false;
  if (at < admitted + most - past) {
    Visit(key, admitted + most - past);
    return false;
  }
  now.Set("DeactivationTarget", true, "MaximumExecutionTimeExceeded",
          "exceeding the maximum execution time");
  now.status().erase("accumulatedPastExecutionTimeSeconds");
  return true;
}

}  // namespace weft::world
