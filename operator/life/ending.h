#pragma once

#include <string>
#include <string_view>

#include "operator/life/life.h"

namespace weft::life {

// The end of attempts and jobs: all pods are deleted first; then their Placements, which hold the
// pods' resources until then.

// The reason of Suspended=False while the attempt is being taken down.
inline constexpr std::string_view kSuspending = "Suspending";

// The step of a job that is being deleted.
JobStep DepartStep(Life& life);
// The step of a job that is Complete or Failed.
JobStep AfterEndStep(Life& life);
// The step of a job that is to be suspended. The status is written before the first pod is deleted,
// and the attempt is always taken down completely: a job that is resumed meanwhile starts a new
// attempt, and the deleted pods never count as failed.
JobStep SuspendStep(Life& life);
JobStep ResumeStep(Life& life);
// The step of an attempt that is taken down for another one.
JobStep TearDownStep(Life& life);
// Sets the condition Failed and writes the status.
JobStep FailStep(Life& life, std::string_view reason, std::string message);

}  // namespace weft::life
