#pragma once

#include <optional>

#include "operator/decide/life.h"

namespace weft::decide {

// The first phase of a job's life: whether the job as it is now could run at all. A suspended one
// too, so that its user need not wait for a mistake. Nothing where it is accepted.
std::optional<Step> AcceptStep(Life& life);

// Of a job whose spec cannot be read: nothing is decided, what runs goes on, and goes on being
// followed once the spec can be read again. Said once.
Step RefuseStep(Life& life);

// The status after the dry run of worker 0: accepted, or why not.
JobStatus AfterDryRun(const JobView& view, bool accepted, const std::string& message);

}  // namespace weft::decide
