#include "operator/life/ending.h"

#include <algorithm>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/base/check.h"
#include "operator/base/seeded_bug.h"
#include "operator/framework/traits.h"
#include "operator/life/accept.h"
#include "operator/life/blame.h"
#include "operator/life/clear.h"
#include "operator/life/kueue_quota.h"
#include "operator/life/restart.h"

namespace weft::life {

JobStep DepartStep(Life& life) {
  if (!HasFinalizer(life.job)) return Wait{};
  if (Seeded(Bug::kFinalizerStays) && life.status.attempt == 0) return Wait{};
  auto step = Clear(life);
  if (step && !Seeded(Bug::kFinalizerEarly)) return *std::move(step);
  if (auto left = LeaveQueue(life)) return *std::move(left);
  return RemoveFinalizer{};
}

namespace {

// What the workers needed of the cluster, and what would be in the way of others: their names, the
// ComputeDomain (a node has at most one) and the private key of a launcher's ssh.
std::optional<JobStep> DropFiles(const Life& life) {
  if (life.view.service && !Seeded(Bug::kFilesStay)) return DeleteService{};
  const api::TrainingJob& job = life.job;
  const api::Placement* placement = PlacementOfAttempt(life);
  if (placement == nullptr || placement->meta.deleting) return std::nullopt;
  // The job may have been changed since.
  const bool domain = job.topology.compute_domain || placement->topology.compute_domain;
  if (!domain && !framework::TraitsOf(job.framework).launches_by_ssh()) return std::nullopt;
  if (api::FindCondition(placement->conditions, api::kFilesDeleted) != nullptr) return std::nullopt;
  return DeleteFiles{placement};
}

}  // namespace

// Deletes pods that still run; finished pods and the ConfigMap of their files stay for whoever
// looks at them, until the job is deleted.
JobStep AfterEndStep(Life& life) {
  if (Seeded(Bug::kFailedTriedAgain) && Is(life.status, "Failed")) {
    SetCondition(life.status, {"Failed", false, "Again", "tried again"}, life.view.now);
    Undo(life, {Cause::kProgramFailed, "Again", "tried again", {}});
    return WriteStatus{life.status};
  }
  std::vector<const api::Pod*> running;
  for (const api::Pod* pod : life.view.pods) {
    const bool ended = pod->HasEnded();
    if (!ended && !pod->meta.deleting) running.push_back(pod);
  }
  if (!running.empty()) return DeletePods{std::move(running)};
  if (auto step = FinishWorkload(life)) return *std::move(step);
  const std::optional<Wait> ending = AwaitEnded(life);
  if (!ending) {
    if (auto step = DropFiles(life)) return *std::move(step);
  }
  const auto ttl = life.job.ttl_seconds_after_finished;
  if (!ttl) return ending.value_or(Wait{});
  const UnixSeconds now = life.view.now;
  const UnixSeconds ended = ParseTime(life.status.record.completion_time).value_or(now);
  const std::int64_t left = ended + *ttl - now;
  if (left > 0) {
    if (Seeded(Bug::kTtlForgotten)) return Wait{};
    return Wait{Sooner(ending.value_or(Wait{}).seconds, left)};
  }
  return DeleteJob{};
}

JobStep SuspendStep(Life& life) {
  JobStatus& status = life.status;
  const UnixSeconds now = life.view.now;
  if (Is(status, "Placed") && !Is(status, "Restarting") &&
      ReasonOf(status, "Suspended") != kSuspending) {
    for (const char* type : {"Suspended", "PodsReady"}) {
      SetCondition(status, {type, false, kSuspending, "the pods are being deleted"}, now);
    }
    return WriteStatus{status};
  }
  if (auto step = Clear(life)) return *std::move(step);
  if (auto step = LeaveQueue(life)) return *std::move(step);
  if (Is(status, "Suspended")) {
    if (auto step = AcceptStep(life)) return *std::move(step);
    return WriteOr(life, Wait{});
  }
  SetCondition(status, {"Suspended", true, "Suspended", "spec.suspend is true"}, now);
  if (Is(status, "Restarting")) {
    SetCondition(status, {"Restarting", false, "Suspended", "suspended"}, now);
  }
  Unplace(life, "Suspended", "the job is suspended");
  return WriteStatus{status};
}

// A user who resumes a job wants it to be tried now.
JobStep ResumeStep(Life& life) {
  api::JobRecord& record = life.status.record;
  const auto since = Since(life.status, "Suspended");
  if (since && !record.start_time.empty()) {
    record.suspended_seconds += std::max<std::int64_t>(0, life.view.now - *since);
  }
  record.retry = {};
  SetCondition(life.status, {"Suspended", false, "Resumed", "spec.suspend is false"},
               life.view.now);
  return WriteStatus{life.status};
}

// The Service is deleted first: its gang no longer needs it, and in a large gang every deleted pod
// would cause a write of all endpoints. If a job is suspended or deleted, workers may still store
// their state together, so the Service stays until they have ended.
JobStep TearDownStep(Life& life) {
  if (const auto fault = BlameLate(life)) {
    BlameAnew(life, *fault);
    return WriteStatus{life.status};
  }
  if (life.view.service && !Seeded(Bug::kOldServiceKept)) return DeleteService{};
  if (auto step = Clear(life)) return *std::move(step);
  if (Seeded(Bug::kAttemptBack)) life.status.attempt = 0;
  WEFT_CHECK(FindCondition(life.status, "Restarting") != nullptr);
  const api::Condition why = *FindCondition(life.status, "Restarting");
  SetCondition(life.status, {"Restarting", false, why.reason, why.message}, life.view.now);
  Unplace(life, "Restarting",
          "attempt " + std::to_string(life.status.attempt) + " was taken down: " + why.message);
  return WriteStatus{life.status};
}

JobStep FailStep(Life& life, std::string_view reason, std::string message) {
  Fail(life.status, reason, std::move(message), life.view.now);
  return WriteStatus{life.status};
}

}  // namespace weft::life
