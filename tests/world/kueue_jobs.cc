#include "tests/world/kueue_jobs.h"

#include <algorithm>

namespace weft::world {
namespace {

constexpr const char* kCompletionIndex = "batch.kubernetes.io/job-completion-index";

std::string OwnerUid(const Json& workload) {
  for (const Json& one : At(workload, {"metadata", "ownerReferences"})) {
    if (TextAt(one, {"kind"}) == "Job") return TextAt(one, {"uid"});
  }
  return "";
}

std::string OwnerName(const Json& workload) {
  for (const Json& one : At(workload, {"metadata", "ownerReferences"})) {
    if (TextAt(one, {"kind"}) == "Job") return TextAt(one, {"name"});
  }
  return "";
}

// The same key with another value is a conflict.
bool AddAll(Json& target, const Json& added) {
  for (const auto& [name, value] : added.items()) {
    if (target.is_object() && target.contains(name) && target[name] != value) return false;
    target[name] = value;
  }
  return true;
}

}  // namespace

KueueJobs::KueueJobs(Fibers& fibers, ApiServer& server, const Kueue& kueue,
                     std::function<std::int64_t()> now_seconds, std::uint64_t seed)
    : fibers_(fibers),
      api_(server, "kueue-job"),
      kueue_(kueue),
      now_seconds_(std::move(now_seconds)),
      chance_(seed) {}

void KueueJobs::OnChange(const Change& change) {
  if (change.resource == "jobs.batch") return ReconcileSoon(change.key);
  if (change.resource != "workloads.kueue.x-k8s.io") return;
  const std::string job = OwnerName(*change.object);
  if (!job.empty()) ReconcileSoon({change.key.space, job});
}

void KueueJobs::Resync() {
  for (const auto& [key, job] : api_.server().All("jobs.batch")) ReconcileSoon(key);
  for (const auto& [key, workload] : api_.server().All("workloads.kueue.x-k8s.io")) {
    const std::string job = OwnerName(*workload);
    if (!job.empty()) ReconcileSoon({key.space, job});
  }
}

void KueueJobs::ReconcileSoon(const api::ObjectKey& key) {
  if (!due_.insert(key).second) return;
  fibers_.After(Millis(2 + chance_.Below(300)), [this, key] {
    due_.erase(key);
    if (kueue_.works()) Reconcile(key);
  });
}

std::shared_ptr<const Json> KueueJobs::WorkloadOf(const std::string& uid,
                                                  const api::ObjectKey& key) const {
  std::shared_ptr<const Json> found;
  for (const auto& [name, workload] :
       const_cast<Actor&>(api_).server().All("workloads.kueue.x-k8s.io")) {
    if (name.space == key.space && OwnerUid(*workload) == uid) found = workload;
  }
  return found;
}

void KueueJobs::MakeWorkload(const Json& job) {
  const api::ObjectKey key = KeyOf(job);
  const Json pod_set = {{"name", "main"},
                        {"count", NumberAt(job, {"spec", "parallelism"})},
                        {"template", At(job, {"spec", "template"})},
                        {"topologyRequest", {{"podIndexLabel", kCompletionIndex}}}};
  Json workload = {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                   {"kind", "Workload"},
                   {"metadata",
                    {{"name", "job-" + key.name + "-" + UidOf(job).substr(0, 5)},
                     {"namespace", key.space},
                     {"labels", {{kJobUid, UidOf(job)}}},
                     {"finalizers", {kInUse}},
                     {"ownerReferences",
                      {{{"apiVersion", "batch/v1"},
                        {"kind", "Job"},
                        {"name", key.name},
                        {"uid", UidOf(job)},
                        {"controller", true},
                        {"blockOwnerDeletion", true}}}}}},
                   {"spec",
                    {{"queueName", LabelOf(job, kQueueName)},
                     {"priority", 0},
                     {"active", true},
                     {"podSets", {pod_set}}}}};
  const std::string name = LabelOf(job, "kueue.x-k8s.io/priority-class");
  const auto priority = api_.Find(kube::kWorkloadPriorityClasses, {"", name});
  if (priority) {
    workload["spec"]["priority"] = NumberAt(*priority, {"value"});
    workload["spec"]["priorityClassRef"] = {
        {"group", "kueue.x-k8s.io"}, {"kind", "WorkloadPriorityClass"}, {"name", name}};
  }
  if (api_.Create(kube::kWorkloads, workload) / 100 != 2) {
    fibers_.After(std::chrono::seconds(5), [this, key] { ReconcileSoon(key); });
  }
}

void KueueJobs::RemoveFinalizer(const Json& workload) {
  Json left = Json::array();
  for (const Json& one : At(workload, {"metadata", "finalizers"})) {
    if (one != Json(kInUse)) left.push_back(one);
  }
  if (left.size() == At(workload, {"metadata", "finalizers"}).size()) return;
  api_.Patch(kube::kWorkloads, KeyOf(workload), {{"metadata", {{"finalizers", left}}}});
}

// Of a Job that is gone.
void KueueJobs::DropOrphans(const api::ObjectKey& key) {
  const auto all = api_.server().All("workloads.kueue.x-k8s.io");
  for (const auto& [name, workload] : all) {
    if (name.space != key.space || OwnerName(*workload) != key.name) continue;
    const auto job = api_.Find(kJobs, key);
    if (!job || UidOf(*job) != OwnerUid(*workload)) RemoveFinalizer(*workload);
  }
}

void KueueJobs::Write(const Json& workload, const WorkloadStatus& now) {
  const Json patch = now.PatchOf(workload);
  if (!patch.is_null()) api_.Patch(kube::kWorkloads, KeyOf(workload), patch, "status");
}

void KueueJobs::Reconcile(const api::ObjectKey& key) {
  const auto job = api_.Find(kJobs, key);
  DropOrphans(key);
  if (!job || LabelOf(*job, kQueueName).empty()) return;
  const auto workload = WorkloadOf(UidOf(*job), key);
  if (IsDeleting(*job)) {
    if (workload) RemoveFinalizer(*workload);
    return;
  }
  const bool over = IsTrue(*job, "Complete") || IsTrue(*job, "Failed");
  if (!workload) {
    if (!over) MakeWorkload(*job);
    return;
  }
  WorkloadStatus now(*workload, now_seconds_());
  if (now.IsFinished()) return RemoveFinalizer(*workload);
  if (IsDeleting(*workload)) {
    Stop(*job, *workload);
    return RemoveFinalizer(*workload);
  }
  if (over) {
    const bool well = IsTrue(*job, "Complete");
    now.Set("Finished", true, well ? "Succeeded" : "Failed", "Job finished");
    return Write(*workload, now);
  }
  if (Reclaim(*job, *workload) || ReportPods(*job, *workload)) return;
  if (now.IsEvicted()) {
    Stop(*job, *workload);
    return GiveBack(*job, *workload);
  }
  const bool suspended = At(*job, {"spec", "suspend"}) == Json(true);
  if (suspended && now.IsAdmitted()) return Start(*job, *workload);
  if (!suspended && !now.IsAdmitted()) Stop(*job, *workload);
}

// The quota of pods that have succeeded. True: written.
bool KueueJobs::Reclaim(const Json& job, const Json& workload) {
  const std::int64_t parallelism = NumberAt(job, {"spec", "parallelism"});
  const std::int64_t succeeded = NumberAt(job, {"status", "succeeded"});
  const std::int64_t left = NumberAt(job, {"spec", "completions"}) - succeeded;
  Json pods = Json::array();
  if (parallelism > 1 && succeeded > 0 && left < parallelism) {
    pods.push_back({{"name", "main"}, {"count", parallelism - left}});
  }
  const Json& was = At(workload, {"status", "reclaimablePods"});
  if (was == pods || (was.is_null() && pods.empty())) return false;
  api_.Patch(kube::kWorkloads, KeyOf(workload), {{"status", {{"reclaimablePods", pods}}}},
             "status");
  return true;
}

// The condition PodsReady. True: written.
bool KueueJobs::ReportPods(const Json& job, const Json& workload) {
  WorkloadStatus now(workload, now_seconds_());
  const std::int64_t well =
      NumberAt(job, {"status", "ready"}) + NumberAt(job, {"status", "succeeded"});
  const bool ready = now.IsAdmitted() && At(job, {"spec", "suspend"}) != Json(true) &&
                     well >= NumberAt(job, {"spec", "parallelism"});
  const Json& said = ConditionOf(workload, "PodsReady");
  const std::string reason = TextAt(said, {"reason"});
  const bool was = TextAt(said, {"status"}) == "True";
  if (!said.is_null() && was == ready && (ready || now.IsAdmitted() || reason == "WaitForStart")) {
    return false;
  }
  if (ready) {
    now.Set("PodsReady", true, reason == "WaitForRecovery" ? "Recovered" : "Started",
            "All pods reached readiness and the workload is running");
  } else if (now.IsAdmitted() && was) {
    now.Set("PodsReady", false, "WaitForRecovery", "At least one pod has failed");
  } else {
    now.Set("PodsReady", false, "WaitForStart", "Not all pods are ready or succeeded");
  }
  Write(workload, now);
  return true;
}

void KueueJobs::Start(const Json& job, const Json& workload) {
  Json pod = At(job, {"spec", "template"});
  bool fits = true;
  Json selector = Json::object(), tolerations = Json::array();
  for (const Json& set : At(workload, {"status", "admission", "podSetAssignments"})) {
    for (const auto& [resource, name] : At(set, {"flavors"}).items()) {
      const auto flavor = api_.Find(kube::kResourceFlavors, {"", name.get<std::string>()});
      if (!flavor) return;
      fits = AddAll(selector, At(*flavor, {"spec", "nodeLabels"})) && fits;
      for (const Json& one : At(*flavor, {"spec", "tolerations"})) tolerations.push_back(one);
    }
  }
  Json& meta = pod["metadata"];
  meta["labels"]["kueue.x-k8s.io/podset"] = "main";
  meta["labels"]["kueue.x-k8s.io/local-queue-name"] = TextAt(workload, {"spec", "queueName"});
  meta["annotations"]["kueue.x-k8s.io/workload"] = KeyOf(workload).name;
  for (const Json& check : At(workload, {"status", "admissionChecks"})) {
    for (const Json& update : At(check, {"podSetUpdates"})) {
      if (TextAt(update, {"name"}) != "main") continue;
      fits = AddAll(meta["labels"], At(update, {"labels"})) && fits;
      fits = AddAll(meta["annotations"], At(update, {"annotations"})) && fits;
      fits = AddAll(selector, At(update, {"nodeSelector"})) && fits;
      for (const Json& one : At(update, {"tolerations"})) tolerations.push_back(one);
    }
  }
  if (!selector.empty()) fits = AddAll(pod["spec"]["nodeSelector"], selector) && fits;
  for (const Json& one : tolerations) pod["spec"]["tolerations"].push_back(one);
  if (!fits) {
    WorkloadStatus now(workload, now_seconds_());
    now.Set("Finished", true, "FailedToStart", "invalid admission check PodSetUpdate");
    return Write(workload, now);
  }
  api_.Patch(kJobs, KeyOf(job), {{"spec", {{"suspend", false}, {"template", pod}}}});
}

// Suspends it, and takes back what Start added.
void KueueJobs::Stop(const Json& job, const Json& workload) {
  const Json& wanted = At(At(workload, {"spec", "podSets"}).at(0), {"template"});
  Json pod = At(job, {"spec", "template"});
  for (const char* name : {"labels", "annotations"}) {
    pod["metadata"][name] = At(wanted, {"metadata", name});
  }
  for (const char* name : {"nodeSelector", "tolerations", "schedulingGates"}) {
    pod["spec"][name] = At(wanted, {"spec", name});
  }
  const bool suspended = At(job, {"spec", "suspend"}) == Json(true);
  Json changes = {{"suspend", true}};
  Json before = At(job, {"spec", "template"});
  for (const char* part : {"metadata", "spec"}) {
    for (const auto& [name, value] : pod[part].items()) {
      if (At(before, {part, name.c_str()}) == value) continue;
      // A merge patch of an object keeps what it does not name.
      for (const auto& [key, old] : At(before, {part, name.c_str()}).items()) {
        if (old.is_null() || !value.is_object() || value.contains(key)) continue;
        changes["template"][part][name][key] = nullptr;
      }
      if (!value.is_object()) {
        changes["template"][part][name] = value;
        continue;
      }
      for (const auto& [key, now] : value.items()) changes["template"][part][name][key] = now;
    }
  }
  if (suspended && changes.size() == 1) return;
  api_.Patch(kJobs, KeyOf(job), {{"spec", changes}});
}

void KueueJobs::GiveBack(const Json& job, const Json& workload) {
  const auto now_job = api_.Find(kJobs, KeyOf(job));
  if (!now_job || NumberAt(*now_job, {"status", "active"}) > 0) return;
  if (At(*now_job, {"spec", "suspend"}) != Json(true)) return;
  WorkloadStatus now(workload, now_seconds_());
  if (!now.HasQuota()) return;
  const Json evicted = ConditionOf(workload, "Evicted");
  const std::string reason = TextAt(evicted, {"reason"}), message = TextAt(evicted, {"message"});
  now.SetRequeued(reason == "Preempted" || reason == "NodeFailures", reason, message);
  now.Unset("PendingEvaluation", message);
  Write(workload, now);
}

}  // namespace weft::world
