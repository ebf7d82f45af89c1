#include "operator/life/kueue_quota.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/base/check.h"
#include "operator/base/short_hash.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/attempt.h"
#include "operator/life/blame.h"
#include "operator/life/clear.h"
#include "operator/life/kueue_quota_assignment.h"
#include "operator/life/kueue_quota_patches.h"
#include "operator/life/kueue_quota_verdict.h"
#include "operator/life/restart.h"

namespace weft::life {
namespace {

using api::kAdmissionPending;
using api::kAssignmentRefused;
using api::kDeactivated;
using api::kQueued;
using api::kQueueEvicted;
using cluster::HasCondition;

// While Kueue's kinds are not listed, or a flavor is missing.
constexpr std::int64_t kRequeueSeconds = 5;

// Reasons of Placed while the job has quota and no nodes.
constexpr const char* kAdmitted = "Admitted";
constexpr const char* kQuotaReserved = "QuotaReserved";

std::string QueueNameOf(const api::TrainingJob& job) {
  return std::string(job.meta.labels.At(api::kQueueNameLabel).value_or(""));
}

// The start of a message.
std::string InQueue(const api::TrainingJob& job) { return "queue " + QueueNameOf(job) + ": "; }

const api::Workload* WorkloadOfJob(const Life& life) {
  const std::string name = WorkloadName(life.job.meta);
  for (const api::Workload* one : life.view.queue->workloads) {
    if (one->meta.key.name == name) return one;
  }
  return nullptr;
}

bool HasWorkloadFinalizer(const api::Workload& workload) {
  const auto& finalizers = workload.meta.finalizers;
  return std::find(finalizers.begin(), finalizers.end(), api::kWorkloadFinalizer) !=
         finalizers.end();
}

// Those that Weft can still do something about.
std::vector<const api::Workload*> Droppable(const std::vector<const api::Workload*>& workloads) {
  std::vector<const api::Workload*> left;
  for (const api::Workload* one : workloads) {
    if (!one->meta.deleting || HasWorkloadFinalizer(*one)) left.push_back(one);
  }
  return left;
}

bool HoldsQuota(const api::Workload& workload) {
  return HasCondition(workload.conditions, "QuotaReserved") || !workload.cluster_queue.empty();
}

// Whether the Workload asks for something else than the job. Its priority and queue count only
// without quota, because Kueue keeps them while it is reserved.
bool IsOutdated(const api::Workload& workload, const api::TrainingJob& job) {
  if (workload.pod_sets.size() != 1) return true;
  const api::PodSet& set = workload.pod_sets.front();
  const auto asked = set.pod.requests.find(job.accelerator.resource_name);
  const bool same = set.asked == job.replicas && asked != set.pod.requests.end() &&
                    asked->second == job.accelerator.per_worker;
  if (!same || HoldsQuota(workload)) return !same;
  const auto priority = job.meta.labels.At(api::kQueuePriorityLabel);
  return workload.priority_class != priority.value_or(job.priority_class_name);
}

// Whether the job has said that it has quota and waits until its next attempt may start.
bool IsPaused(const JobStatus& status) {
  const api::Condition* placed = FindCondition(status, "Placed");
  return placed != nullptr && placed->status == "False" &&
         (placed->reason == kAdmitted || placed->reason == kQuotaReserved);
}

// The planner's own NotWritten is False.
bool WasUnwrittenInQueue(const JobStatus& status) {
  const api::Condition* placed = FindCondition(status, "Placed");
  return placed != nullptr && placed->status == "Unknown" && placed->reason == kNotWritten;
}

// Whether the job may use its quota, and if not, why.
QueueVerdict VerdictOf(const Life& life, const api::Workload* workload) {
  if (workload == nullptr) return {false, false, kQueued, "its Workload is not created yet"};
  QueueVerdict verdict = JudgeWorkload(*workload, life.view.queue->is_ours);
  if (verdict.reason == kDeactivated) verdict.message += ", or suspend and resume the job";
  return verdict;
}

JobStep ReportNotPlaced(Life& life, std::string_view reason, const std::string& message,
                        Wait wait) {
  SetCondition(life.status, {"Placed", false, reason, InQueue(life.job) + message}, life.view.now);
  life.status.record.workers.desired = life.job.replicas;
  return WriteOr(life, wait);
}

// The assignment cannot be used. The quota is given back, because it would be held for nothing.
JobStep RefuseAssignment(Life& life, const api::Workload& workload, const std::string& why) {
  JobStep written = ReportNotPlaced(
      life, kAssignmentRefused,
      why + ". Weft deactivates its Workload; suspend and resume the job to queue it again",
      Wait{});
  if (std::holds_alternative<WriteStatus>(written)) return written;
  return Deactivate(workload);
}

// Before nodes are chosen: records what the quota adds to the pods. Nothing if it is recorded.
std::optional<JobStep> TakeAssignment(Life& life, const api::Workload& workload) {
  const api::Raw recorded = QueueOf(life.job);
  const Result<api::Raw> assigned = AssignmentOf(life.job, workload, *life.view.queue);
  if (assigned && recorded && *recorded == **assigned) return std::nullopt;
  if (auto step = Clear(life)) return step;
  WEFT_CHECK(!Is(life.status, "Placed"));  // pods of an attempt keep what they were made with
  if (assigned) return WriteQueue{*assigned};
  if (recorded) return WriteQueue{};
  if (assigned.error().kind == ErrorKind::kInvalid) {
    return RefuseAssignment(life, workload, assigned.error().message);
  }
  return ReportNotPlaced(life, kAdmissionPending, assigned.error().message, Wait{kRequeueSeconds});
}

// From now on the job waits for nodes, or first for the end of its pause after a failure. The
// transition time of Placed begins anew, because the time in the queue is not time without nodes:
// from Unknown by way of False, as after a pause.
std::optional<JobStep> ReportAdmitted(Life& life, const QueueVerdict& verdict) {
  const bool told = !verdict.start && ReasonOf(life.status, "Placed") == kAdmissionPending;
  const bool paused = IsPaused(life.status);
  const bool unwritten = WasUnwrittenInQueue(life.status);
  if ((!WaitsForKueue(life.status) && !paused && !unwritten) || told) return std::nullopt;
  if (NextPlacement(life) != nullptr) return std::nullopt;
  const api::Retry& retry = life.status.record.retry;
  const bool pauses = RetryLeft(retry, life.view.now) > 0;
  if (pauses && paused) return std::nullopt;
  api::PutCondition(life.status.conditions,
                    {"Placed", pauses || unwritten ? "False" : "Unknown",
                     verdict.start ? kAdmitted : kQuotaReserved,
                     InQueue(life.job) + verdict.message + (pauses ? RetryText(retry) : ""), ""},
                    life.view.now);
  return WriteStatus{life.status};
}

// Quota is there: nodes may be chosen, and with `verdict.start` pods may run.
std::optional<JobStep> AdmittedStep(Life& life, const api::Workload& workload,
                                    const QueueVerdict& verdict) {
  const bool placed = Is(life.status, "Placed");
  if (verdict.start) {
    const bool ready = placed && Is(life.status, "PodsReady");
    if (auto told = PatchPodsReady(workload, ready, life.view.now)) return *std::move(told);
  }
  if (placed) return std::nullopt;
  if (auto step = TakeAssignment(life, workload)) return step;
  if (auto step = ReportAdmitted(life, verdict)) return step;
  if (verdict.start) return std::nullopt;
  if (const api::Placement* next = NextPlacement(life)) {
    return ReportNotPlaced(
        life, kAdmissionPending,
        verdict.message + "; the nodes are chosen (Placement " + next->meta.key.name + ")", Wait{});
  }
  return PlaceStep(life);
}

// Ends the attempt, which is not counted.
JobStep LoseQuota(Life& life, const QueueVerdict& verdict) {
  if (AwaitsBlame(life)) {  // the eviction is a consequence
    if (const auto fault = FindFault(life, true)) {
      Restart(life, *fault);
      return WriteStatus{life.status};
    }
  }
  for (const char* type : {"Restarting", "PodsReady"}) {
    SetCondition(life.status,
                 {type, std::string_view(type) == "Restarting", kQueueEvicted,
                  "the job lost its quota: " + verdict.message},
                 life.view.now);
  }
  return WriteStatus{life.status};
}

// Nothing of the job runs, and nothing may.
JobStep QueuedStep(Life& life, const api::Workload* workload, const QueueVerdict& verdict) {
  std::vector<const api::Workload*> others = Droppable(life.view.queue->workloads);
  std::erase(others, workload);
  if (!others.empty()) return DropWorkloads{std::move(others)};
  if (workload == nullptr) return CreateWorkload{};
  const bool readable = workload->unreadable.empty();
  const bool outdated = readable && !HasCondition(workload->conditions, "Finished") &&
                        IsOutdated(*workload, life.job);
  if ((workload->meta.deleting && HasWorkloadFinalizer(*workload)) ||
      (outdated && !workload->meta.deleting)) {
    return DropWorkloads{{workload}};
  }
  if (HasCondition(workload->conditions, "Evicted") && HoldsQuota(*workload)) {
    return ReleaseQuota(*workload, life.view.now);
  }
  if (readable && !HoldsQuota(*workload) && !workload->meta.deleting) {
    if (auto forgotten = ForgetPodsReady(*workload, life.view.now)) return *std::move(forgotten);
  }
  const std::string queue = QueueNameOf(life.job);
  if (readable && !HoldsQuota(*workload) && !queue.empty() && queue != workload->queue) {
    return MoveToQueue(*workload, queue);
  }
  if (!workload->active && ReasonOf(life.status, "Placed") == kAssignmentRefused) return Wait{};
  return ReportNotPlaced(life, verdict.reason, verdict.message, Wait{});
}

// The kinds of Kueue are not listed yet, so it is unknown whether the job has a Workload.
std::optional<JobStep> UnsyncedStep(Life& life) {
  const bool waits = !Is(life.status, "Placed") && !Is(life.status, "Restarting");
  if (!waits || QueueNameOf(life.job).empty()) return std::nullopt;
  const Wait wait{kRequeueSeconds};
  if (FindCondition(life.status, "Placed") != nullptr) return wait;
  return ReportNotPlaced(
      life, kQueued, "the operator has not read Kueue's objects yet; is Kueue installed?", wait);
}

}  // namespace

std::optional<JobStep> QueueStep(Life& life) {
  if (!life.view.queue) return std::nullopt;
  if (!life.view.queue->synced) return UnsyncedStep(life);
  const bool counted = QueueOf(life.job) != nullptr;  // it has, or just lost, quota
  if (QueueNameOf(life.job).empty() && !counted) {
    if (Is(life.status, "Restarting")) return std::nullopt;
    std::vector<const api::Workload*> left = Droppable(life.view.queue->workloads);
    if (left.empty()) return std::nullopt;
    return DropWorkloads{std::move(left)};
  }
  if (Is(life.status, "Restarting")) return std::nullopt;
  if (Is(life.status, "Placed") && !counted) return std::nullopt;
  const api::Workload* workload = WorkloadOfJob(life);
  const QueueVerdict verdict = VerdictOf(life, workload);
  const bool placed = Is(life.status, "Placed");
  const bool current = workload != nullptr && (placed || !IsOutdated(*workload, life.job));
  if (current && (placed ? verdict.start : verdict.plan)) {
    return AdmittedStep(life, *workload, verdict);
  }
  if (placed) return LoseQuota(life, verdict);
  if (auto step = Clear(life)) return step;
  if (counted) return WriteQueue{};
  return QueuedStep(life, workload, verdict);
}

bool OwesQuota(const Life& life) {
  if (!life.view.queue || !life.view.queue->synced) return false;
  const api::Workload* workload = WorkloadOfJob(life);
  if (workload == nullptr) return false;
  if (workload->meta.deleting && HasWorkloadFinalizer(*workload)) {
    return !Is(life.status, "Placed") || QueueOf(life.job) != nullptr;
  }
  return HoldsQuota(*workload) && HasCondition(workload->conditions, "Evicted");
}

JobStep GiveBackStep(Life& life) {
  WEFT_CHECK(OwesQuota(life) && !Is(life.status, "Restarting"));
  const api::Workload* workload = WorkloadOfJob(life);
  if (Is(life.status, "Placed")) {
    if (auto step = CompleteStep(life)) return *std::move(step);
    return LoseQuota(life, VerdictOf(life, workload));
  }
  if (auto step = Clear(life)) return *std::move(step);
  if (QueueOf(life.job) != nullptr) return WriteQueue{};
  if (workload->meta.deleting) return DropWorkloads{{workload}};
  return ReleaseQuota(*workload, life.view.now);
}

std::optional<JobStep> LeaveQueue(const Life& life) {
  if (!life.view.queue) return std::nullopt;
  std::vector<const api::Workload*> left = Droppable(life.view.queue->workloads);
  if (!left.empty()) return DropWorkloads{std::move(left)};
  if (!life.job.meta.deleting && QueueOf(life.job) != nullptr) return WriteQueue{};
  return std::nullopt;
}

std::optional<JobStep> FinishWorkload(const Life& life) {
  if (!life.view.queue) return std::nullopt;
  const api::Workload* ours = nullptr;
  for (const api::Workload* one : life.view.queue->workloads) {
    if (HasWorkloadFinalizer(*one)) ours = one;
  }
  if (ours == nullptr) return std::nullopt;
  if (const auto wait = AwaitEnded(life)) return *wait;
  if (HasCondition(ours->conditions, "Finished") || ours->meta.deleting) {
    return RemoveWorkloadFinalizer(*ours);
  }
  const bool succeeded = Is(life.status, "Complete");
  const api::Condition* end = FindCondition(life.status, succeeded ? "Complete" : "Failed");
  return PatchFinished(*ours, succeeded, end == nullptr ? "" : end->message, life.view.now);
}

bool WaitsForKueue(const JobStatus& status) {
  return api::WaitForKueue(status.conditions) != nullptr;
}

std::string WorkloadName(const api::ObjectMeta& job) {
  return "trainingjob-" + job.key.name + "-" + ShortHash(job.uid);
}

}  // namespace weft::life
