#pragma once

#include <string>

#include "operator/life/life.h"

namespace weft::life {

// The middle phase of a job's life: an attempt, from the request for nodes to its end.

// Asks the planner for nodes, not before the time in status.retry. A refusal is written once; the
// planner tries again by itself whenever the cluster changes.
JobStep PlaceStep(Life& life);

// The Placement of an attempt after the current one, if it has nodes; else null.
const api::Placement* NextPlacement(const Life& life);
// Makes the Placement's attempt the current one.
JobStep AdoptStep(Life& life, const api::Placement& placement);

// The message of the condition Placed=True. `placement`: null if it is gone.
std::string PlacedText(const std::string& name, const api::Placement* placement);

// Nothing unless every worker has succeeded.
std::optional<JobStep> CompleteStep(Life& life);

// Follows an attempt from the creation of its pods to their end, by the stages of stage.h.
JobStep FollowStep(Life& life);

// The status after admission refused a pod, or an object that pods need: the attempt is taken down
// now and tried again later (retry.h), because an incomplete gang holds nodes for nothing.
JobStatus AfterCreateRefused(const JobView& view, const LifeOptions& options,
                             const std::string& message);

}  // namespace weft::life
