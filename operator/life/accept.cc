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

// Checks the template if it is new or was refused for such a name.
std::optional<JobStep> RefuseReserved(Life& life) {
  const bool was = ReasonOf(life.status, "Accepted") == kReserved;
  if (!was && !IsNew(life)) return std::nullopt;
  const auto use = FindReservedUse(life.job);
  if (!use) return std::nullopt;
  SetCondition(life.status, {"Accepted", false, kReserved, use->field + ": " + use->message},
               life.view.now);
  life.status.record.observed_generation = life.job.meta.generation;
  life.status.record.workers.desired = life.job.replicas;
  return WriteOr(life, Wait{});
}

void TakeTrial(JobStatus& status, const JobView& view, bool accepted, const std::string& message) {
  SetCondition(status, {"Accepted", accepted, accepted ? "Valid" : "Refused", message}, view.now);
  status.record.observed_generation = view.job->meta.generation;
  status.record.workers.desired = view.job->replicas;
}

JobStep TryAgain(const Life& life) {
  const JobView& view = life.view;
  const std::int64_t age = view.tried - Since(life.status, "Accepted").value_or(view.tried);
  const std::int64_t pause = std::clamp(age, kShortestDryRunSeconds, kLongestDryRunSeconds);
  const std::int64_t left = view.tried + pause - view.now;
  if (left > 0 && !Seeded(Bug::kHotRefusal)) return Wait{left};
  return DryRun{};
}

// While pods exist the template cannot change, so there is no new dry run: a quota that these pods
// use up would refuse one more pod.
std::optional<JobStep> AcceptWithoutDryRun(Life& life) {
  if (!Is(life.status, "Accepted")) {
    SetCondition(life.status, {"Accepted", true, "Valid", "the job is valid"}, life.view.now);
  } else if (!IsNew(life)) {
    return std::nullopt;
  }
  life.status.record.observed_generation = life.job.meta.generation;
  return WriteStatus{life.status};
}

}  // namespace

std::optional<JobStep> AcceptStep(Life& life) {
  if (Is(life.status, "Placed") && !life.job.suspend) return AcceptWithoutDryRun(life);
  if (auto refused = RefuseReserved(life)) return refused;
  const api::Condition* accepted = FindCondition(life.status, "Accepted");
  const bool settled = accepted != nullptr && !IsNew(life);
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
