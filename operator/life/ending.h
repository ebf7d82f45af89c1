#pragma once

#include <string>
#include <string_view>

#include "operator/life/life.h"

namespace weft::life {

// How attempts and jobs end: all pods are deleted first, then their Placements, which until then
// hold the pods' resources.

// Reason of Suspended=False while the attempt is being taken down.
inline constexpr std::string_view kSuspending = "Suspending";

// The step of a job that is being deleted.
Step DepartStep(Life& life);
// The step of a job that is complete or has failed.
Step AfterEndStep(Life& life);
// Written before the first pod is deleted, and carried out to the end: a job that is resumed
// meanwhile starts a new attempt, and never continues the old one or counts its pods as failed.
Step SuspendStep(Life& life);
Step ResumeStep(Life& life);
// The step of an attempt that is taken down for another one.
Step TearDownStep(Life& life);
// The job has failed.
Step FailStep(Life& life, std::string_view reason, std::string message);

}  // namespace weft::life
