#include "operator/life/accept.h"

#include <algorithm>

#include "operator/api/conditions.h"
#include "operator/base/seeded_bug.h"
#include "operator/life/clear.h"
#include "operator/life/reserved_names.h"

namespace weft::life {
namespace {

// The reason of Accepted=False if the template uses a name that is reserved for Weft.
constexpr std::string_view kReserved = "ReservedName";
// A job that admission refuses is tried again, because a quota, an account or a policy may change.
// The pause is the age of the refusal, within these limits.
constexpr std::int64_t kLongestDryRunSeconds = 60;

bool IsNew(const Life& life) {
  return life.job.record.observed_generation != life.job.meta.generation;
}

// The generation whose pods had a dry run, or whose template was refused before that: the one of
// the condition Accepted. While pods exist newer ones are taken without a dry run.
std::int64_t TriedGeneration(const Life& life) {
  const api::Condition* accepted = FindCondition(life.status, "Accepted");
  if (accepted == nullptr) return 0;
  if (Seeded(Bug::kUntried)) return life.job.record.observed_generation;
  return accepted->observed_generation;  // 0 of an earlier version: of no generation
}
bool IsUntried(const Life& life) { return TriedGeneration(life) != life.job.meta.generation; }

void SetAccepted(JobStatus& status, const ConditionChange& change, std::int64_t generation,
                 UnixSeconds now) {
  SetCondition(status, change, now);
  for (api::Condition& one : status.conditions) {
    if (one.type == "Accepted") one.observed_generation = generation;
  }
}

// Checks the template if it is new or was refused for such a name.
std::optional<JobStep> RefuseReserved(Life& life) {
  const bool was = ReasonOf(life.status, "Accepted") == kReserved;
  if (!was && !IsUntried(life)) return std::nullopt;
  const auto use = FindReservedUse(life.job);
  if (!use) return std::nullopt;
  SetAccepted(life.status, {"Accepted", false, kReserved, use->field + ": " + use->message},
              life.job.meta.generation, life.view.now);
  life.status.record.observed_generation = life.job.meta.generation;
  life.status.record.workers.desired = life.job.replicas;
  return WriteOr(life, Wait{});
}

void TakeTrial(JobStatus& status, const JobView& view, bool accepted, const std::string& message) {
  SetAccepted(status, {"Accepted", accepted, accepted ? "Valid" : "Refused", message},
              view.job->meta.generation, view.now);
  status.record.observed_generation = view.job->meta.generation;
  status.record.workers.desired = view.job->replicas;
}

// The condition's time may be of a leader whose clock is ahead of this one's.
JobStep TryAgain(const Life& life) {
  const JobView& view = life.view;
  const UnixSeconds seen = view.refused != 0 ? view.refused : view.tried;
  const UnixSeconds since = std::min(seen, Since(life.status, "Accepted").value_or(seen));
  const std::int64_t age = view.tried - since;
  const std::int64_t pause = std::clamp(age, kShortestDryRunSeconds, kLongestDryRunSeconds);
  const std::int64_t left = std::min(view.tried + pause - view.now, pause);  // a clock put back
  if (left > 0 && !Seeded(Bug::kHotRefusal)) return Wait{left};
  return DryRun{};
}

// While pods exist the template cannot change, so there is no new dry run: a quota that these pods
// use up would refuse one more pod. The next attempt has one.
std::optional<JobStep> AcceptWithoutDryRun(Life& life) {
  const api::Condition* accepted = FindCondition(life.status, "Accepted");
  const bool valid = accepted != nullptr && accepted->status == "True";
  if (valid && !IsNew(life)) return std::nullopt;
  SetAccepted(life.status,
              {"Accepted", true, valid ? accepted->reason : "Valid",
               valid ? accepted->message : "the job is valid"},
              TriedGeneration(life), life.view.now);
  life.status.record.observed_generation = life.job.meta.generation;
  return WriteStatus{life.status};
}

}  // namespace

std::optional<JobStep> AcceptStep(Life& life) {
  if (Is(life.status, "Placed") && !life.job.suspend) return AcceptWithoutDryRun(life);
  if (auto refused = RefuseReserved(life)) return refused;
  const api::Condition* accepted = FindCondition(life.status, "Accepted");
  const bool settled = accepted != nullptr && !IsUntried(life);
  const bool valid = settled && accepted->status == "True";
  // Admission refused its pods after the dry run: another dry run comes before the next attempt.
  const bool refused_since = ReasonOf(life.status, "Restarting") == kCreateRefused;
  if (valid && !refused_since) return std::nullopt;
  if (life.view.valid) {
    TakeTrial(life.status, life.view, true, *life.view.valid);
    return std::nullopt;
  }
  if (!settled || valid) return DryRun{};
  if (auto step = Clear(life)) return step;  // nodes that were chosen before it was refused
  return TryAgain(life);
}

std::optional<Refusal> RefusalOf(const api::TrainingJob& job) {
  if (!job.unreadable.empty()) return Refusal{"Invalid", job.unreadable};
  const api::Condition* accepted = api::FindCondition(job.conditions, "Accepted");
  if (accepted == nullptr || accepted->status != "False") return std::nullopt;
  return Refusal{accepted->reason, accepted->message};
}

JobStatus AfterTrialRefused(const JobView& view, const std::string& message) {
  JobStatus status = StatusOf(*view.job);
  TakeTrial(status, view, false, message);
  return status;
}

}  // namespace weft::life
