#include "operator/life/unanswered.h"

#include "operator/api/conditions.h"
#include "operator/base/seeded_bug.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/attempt.h"
#include "operator/life/ending.h"

namespace weft::life {
namespace {

bool Tells(const api::TrainingJob& job, const JobStatus& status) {
  if (!job.unreadable.empty()) return false;
  if (Is(status, "Placed")) return !Seeded(Bug::kWriteUntold);
  // Only as long as it stands there the quota is not asked for again.
  if (job.meta.deleting || ReasonOf(status, "Placed") == api::kAssignmentRefused) return false;
  for (const char* type : {"Restarting", "Suspended", "Complete", "Failed"}) {
    if (Is(status, type)) return false;
  }
  return true;
}

}  // namespace

std::optional<JobStatus> AfterUnanswered(const JobView& view, const std::string& why) {
  JobStatus status = StatusOf(*view.job);
  if (!Tells(*view.job, status) || ReasonOf(status, "Placed") == kNotWritten) return std::nullopt;
  const bool placed = Is(status, "Placed");
  // The time in the queue is not time without nodes: it begins anew with another status.
  const char* is = placed                                            ? "True"
                   : api::WaitForKueue(status.conditions) != nullptr ? "Unknown"
                                                                     : "False";
  api::PutCondition(
      status.conditions,
      {"Placed", is, std::string(kNotWritten), "Weft cannot write what this job needs: " + why, ""},
      view.now);
  if (!placed) status.record.workers.desired = view.job->replicas;
  return status;
}

std::optional<JobStatus> AfterWritten(const JobView& view) {
  JobStatus status = StatusOf(*view.job);
  const bool told = Is(status, "Placed") && ReasonOf(status, "Placed") == kNotWritten;
  const bool ends = Is(status, "Restarting") || ReasonOf(status, "Suspended") == kSuspending ||
                    cluster::IsFinished(*view.job);
  const bool lacks_service = !view.service && !ends;
  if (!told || !view.job->unreadable.empty() || lacks_service) return std::nullopt;
  const api::Placement* of_attempt = nullptr;
  for (const api::Placement* one : view.placements) {
    if (one->meta.key.name == status.placement_name) of_attempt = one;
  }
  SetCondition(status, {"Placed", true, "Placed", PlacedText(status.placement_name, of_attempt)},
               view.now);
  return status;
}

}  // namespace weft::life
