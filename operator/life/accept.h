#pragma once

#include <optional>

#include "operator/life/life.h"

namespace weft::life {

// The first phase of a job's life: whether the job as it is now could run at all. A suspended one
// too, so that its user need not wait for a mistake. Nothing where it is accepted, as status says or
// as the trial that was just made does: then life's status has it, for the next write.
std::optional<Step> AcceptStep(Life& life);

// Of a job whose spec cannot be read: nothing is decided, what runs goes on, and goes on being
// followed once the spec can be read again. Said once.
Step RefuseStep(Life& life);

// The status after a trial of worker 0 that was refused.
JobStatus AfterTrialRefused(const JobView& view, const std::string& message);

}  // namespace weft::life
