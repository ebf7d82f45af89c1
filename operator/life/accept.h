#pragma once

#include <optional>

#include "operator/life/life.h"

namespace weft::life {

// The first phase of a job's life: can the job run at all? Suspended jobs are checked too, so that
// users learn of mistakes early. Returns nothing if the job is accepted already, or if a dry run
// has just succeeded. After a dry run, life.status has the condition for the next write.
std::optional<Step> AcceptStep(Life& life);

// The status after admission refused the dry run of worker 0.
JobStatus AfterTrialRefused(const JobView& view, const std::string& message);

}  // namespace weft::life
