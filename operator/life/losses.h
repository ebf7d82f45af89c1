#pragma once

#include "operator/life/fault.h"
#include "operator/life/life.h"

namespace weft::life {

// Keeps status.checkpoint, status.recovery and status.lost of a job with spec.checkpoint; those of
// a job without it are removed.

// Reads the annotations of api/checkpoint.h from the job and its worker 0's pod. Of two times the
// later one counts; one that is in the future, or older than what is known, does not.
void NoteProgress(Life& life);

// A fault ends training, or comes to light while the job recovers from another one.
void NoteLoss(Life& life, const Fault& fault);

// Counts what the step from the job's status to `after`, which is about to be written, means.
void CountStep(const Life& life, JobStatus& after);

}  // namespace weft::life
