#pragma once

#include <optional>

#include "operator/base/refusal.h"
#include "operator/life/life.h"

namespace weft::life {

// A refused dry run is repeated after this time at the earliest.
inline constexpr std::int64_t kShortestDryRunSeconds = 2;

// The first phase of a job's life: can the job run at all? Suspended jobs are checked too, so that
// users learn of mistakes early. Returns nothing if the job is accepted already, or if a dry run
// has just succeeded. After a dry run, life.status has the condition for the next write.
std::optional<JobStep> AcceptStep(Life& life);

// The status after admission refused the dry run of worker 0.
JobStatus AfterTrialRefused(const JobView& view, const std::string& message);

// Why the job is not planned although it is not suspended: its spec cannot be read, or its pods are
// refused. Nothing if it is planned, or was not looked at yet.
std::optional<Refusal> RefusalOf(const api::TrainingJob& job);

}  // namespace weft::life
