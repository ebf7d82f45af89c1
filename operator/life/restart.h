#pragma once

#include <string>
#include <string_view>

#include "operator/life/fault.h"
#include "operator/life/life.h"

namespace weft::life {

// What follows a fault by failurePolicy: first the rule that matches it, then whether a restart of
// its cause counts, then maxRestarts.

// Whether the job would fail for good because of the fault: by a rule, by
// failurePolicy.infrastructure, because its program is missing again, or by the count of restarts.
bool EndsJob(const Life& life, const Fault& fault);
// By the count of restarts.
bool ExhaustsRestarts(const Life& life, const Fault& fault);

// Writes the fault to status.lastFailure before it is judged (blame.h).
void NoteFailure(Life& life, const Fault& fault);

// Either the attempt is taken down for another one (retry.h says when and on which nodes), or the
// job fails.
void Restart(Life& life, const Fault& fault);

// The same failure has another cause than status.lastFailure says, which came to light while the
// attempt was being taken down: its restart no longer counts.
void BlameAnew(Life& life, const Fault& fault);

// Sets the condition Failed with its time.
void Fail(JobStatus& status, std::string_view reason, std::string message, UnixSeconds now);

}  // namespace weft::life
