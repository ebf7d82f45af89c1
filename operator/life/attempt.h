#pragma once

#include <string>

#include "operator/life/life.h"

namespace weft::life {

// The middle of a job's life: an attempt from the question for nodes to its end.

// Asks the planner, no sooner than status.retry says. A refusal is written once; the planner asks
// again by itself whenever the cluster changes.
Step PlaceStep(Life& life);

// The Placement of an attempt after the current one that has nodes; null where there is none.
const api::Placement* NextPlacement(const Life& life);
// The job takes it.
Step AdoptStep(Life& life, const api::Placement& placement);

// Pods are created, bound, ready, and have ended: the stages of stage.h.
Step FollowStep(Life& life);

// The status after admission refused a pod or an object that pods need: the attempt is taken down
// at once and tried again later (retry.h), since an incomplete gang only holds nodes.
JobStatus AfterCreateRefused(const JobView& view, const LifeOptions& options,
                             const std::string& message);

}  // namespace weft::life
