#include "operator/decide/as_of.h"

#include <algorithm>
#include <string>

#include "operator/decide/exclusion.h"
#include "operator/decide/job_status.h"
#include "operator/decide/workload.h"

namespace weft::decide {
namespace {

std::int64_t WaitedSeconds(const api::TrainingJob& job, UnixSeconds now) {
  const JobStatus status = StatusOf(job);
  auto since = Since(status, "Placed");
  if (!since || Is(status, "Placed")) since = ParseTime(job.meta.creation_timestamp);
  return std::max<std::int64_t>(0, now - since.value_or(now));
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

}  // namespace

void CountDown(api::TrainingJob& job, UnixSeconds now) {
  const JobStatus status = StatusOf(job);
  const auto placed = Since(status, "Placed");
  if (!job.expected_duration_seconds || !placed || !Is(status, "Placed")) return;
  job.expected_duration_seconds =
      std::max<std::int64_t>(0, *placed + *job.expected_duration_seconds - now);
}

void TellWait(api::TrainingJob& job, UnixSeconds now) {
  const std::string excluded = Joined(ExcludedAt(job.record.excluded, now));
  job.meta.annotations.erase(kExcludedNodesAnnotation);
  if (!excluded.empty()) job.meta.annotations[kExcludedNodesAnnotation] = excluded;
  job.meta.annotations[kWaitedAnnotation] = std::to_string(WaitedSeconds(job, now));
}

}  // namespace weft::decide
