#include "operator/life/next_step.h"

#include "operator/base/check.h"
#include "operator/base/seeded_bug.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/accept.h"
#include "operator/life/attempt.h"
#include "operator/life/ending.h"
#include "operator/life/kueue_quota.h"
#include "operator/life/life.h"
#include "operator/life/losses.h"
#include "operator/life/made_for.h"
#include "operator/life/unreadable.h"

namespace weft::life {
namespace {

// Comes before everything that keeps a job from running, as a spec that cannot be read or pods that
// admission refuses: others wait for the quota.
JobStep ReleaseStep(Life& life) {
  return Is(life.status, "Restarting") ? TearDownStep(life) : GiveBackStep(life);
}

JobStep NextOf(Life& life) {
  const api::TrainingJob& job = life.job;
  const JobStatus& status = life.status;
  if (job.meta.deleting) return DepartStep(life);
  if (!job.unreadable.empty()) {
    return !cluster::IsFinished(job) && OwesQuota(life) ? ReleaseStep(life) : RefuseStep(life);
  }
  if (!HasFinalizer(job)) return AddFinalizer{};
  if (cluster::IsFinished(job)) return AfterEndStep(life);
  if (auto stale = StalePods(life); !stale.empty() && !Seeded(Bug::kOldPodsKept)) {
    return DeletePods{std::move(stale)};
  }
  const bool suspends = job.suspend || ReasonOf(status, "Suspended") == kSuspending;
  const bool late = TimeLeft(life).value_or(1) <= 0;
  if (suspends || late) {  // a job that had ended before has ended
    if (auto complete = CompleteStep(life)) return *std::move(complete);
  }
  if (suspends) return SuspendStep(life);
  if (Is(status, "Suspended")) return ResumeStep(life);
  if (OwesQuota(life) && !Seeded(Bug::kEvictedLast)) return ReleaseStep(life);
  if (auto step = AcceptStep(life)) return *std::move(step);
  if (Seeded(Bug::kEvictedLast) && OwesQuota(life)) return ReleaseStep(life);
  if (late) {
    return FailStep(life, "DeadlineExceeded", "activeDeadlineSeconds have passed");
  }
  if (auto step = QueueStep(life)) return *std::move(step);
  if (Is(status, "Restarting")) return TearDownStep(life);
  if (const api::Placement* next = NextPlacement(life)) {
    if (Is(status, "Placed") || !IsMadeFor(*next, job)) return DeletePlacements{{next}};
    return AdoptStep(life, *next);
  }
  if (!Is(status, "Placed")) return PlaceStep(life);
  return FollowStep(life);
}

// What no step may do, whatever led to it. Planted bugs are for the laws of tests/faults to find.
void CheckLegal(const Life& life, const JobStep& step) {
  const api::TrainingJob& job = life.job;
  if (const auto* create = std::get_if<CreatePods>(&step)) {
    WEFT_CHECK(create->attempt == job.attempt);  // the nodes are in the status before any pod
    WEFT_CHECK(!create->workers.empty() && create->workers.back().Raw() < job.replicas);
    WEFT_CHECK(!cluster::IsFinished(job) && !job.meta.deleting);
  } else if (const auto* write = std::get_if<WriteStatus>(&step)) {
    WEFT_CHECK(write->status.attempt >= job.attempt || Seeded(Bug::kAttemptBack));
    WEFT_DCHECK(write->status != StatusOf(job));  // else it would be written again for ever
  } else if (const auto* pods = std::get_if<DeletePods>(&step)) {
    WEFT_CHECK(!pods->pods.empty());
  } else if (std::holds_alternative<RemoveFinalizer>(step)) {
    WEFT_CHECK(job.meta.deleting && HasFinalizer(job));
  } else if (std::holds_alternative<DeleteJob>(step) || std::holds_alternative<DeleteFiles>(step)) {
    WEFT_CHECK(cluster::IsFinished(job));
  }
}

}  // namespace

JobStep NextStep(const JobView& view, const LifeOptions& options) {
  Life life(view, options);
  JobStep step = NextOf(life);
  if (auto* write = std::get_if<WriteStatus>(&step)) CountStep(life, write->status);
  CheckLegal(life, step);
  return step;
}

}  // namespace weft::life
