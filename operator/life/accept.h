#pragma once

#include <optional>

#include "operator/life/life.h"

namespace weft::life {

// The first phase of a job's life: whether the job could run at all. Suspended jobs are checked
// too, so that users learn of mistakes early. Nothing if the job is accepted, by its status or by a
// dry run that just succeeded; in that case life.status has the condition for the next write.
std::optional<Step> AcceptStep(Life& life);

// For a job whose spec cannot be read: decides nothing; running pods go on, and the operator
// manages them again once the spec can be read. The condition is written once.
Step RefuseStep(Life& life);

// The status after admission refused the dry run of worker 0.
JobStatus AfterTrialRefused(const JobView& view, const std::string& message);

}  // namespace weft::life
