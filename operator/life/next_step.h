#pragma once

#include "operator/life/job_step.h"
#include "operator/life/job_view.h"

namespace weft::life {

// What to do next for one TrainingJob. Pure and level-based: the same view gives the same step,
// and a restarted operator continues where the last one stopped.
//
// Every attempt goes from Placed through its pods to Complete, or is taken down: first all pods,
// then its Placement, so that claims are released only when no pod can hold them. Pods of different
// attempts have different names. A worker's pod is made once in an attempt; only while the gang is
// still being created, one that was deleted is made again.
//
// A job whose spec cannot be read gets the condition Accepted=False, keeps the rest of its status,
// and is otherwise left alone until the spec can be read. Its deletion needs only metadata.
// Cost  O(pods + placements).
JobStep NextStep(const JobView& view, const LifeOptions& options);

}  // namespace weft::life
