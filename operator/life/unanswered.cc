#include "operator/life/unanswered.h"

namespace weft::life {
namespace {

bool Waits(const api::TrainingJob& job, const JobStatus& status) {
  if (job.meta.deleting || !job.unreadable.empty()) return false;
  for (const char* type : {"Placed", "Restarting", "Suspended", "Complete", "Failed"}) {
    if (Is(status, type)) return false;
  }
  return true;
}

}  // namespace

std::optional<JobStatus> AfterUnanswered(const JobView& view, const std::string& why) {
  JobStatus status = StatusOf(*view.job);
  if (!Waits(*view.job, status) || ReasonOf(status, "Placed") == kNotWritten) return std::nullopt;
  SetCondition(status,
               {"Placed", false, kNotWritten, "Weft cannot write what this job needs: " + why},
               view.now);
  status.record.workers.desired = view.job->replicas;
  return status;
}

}  // namespace weft::life
