#pragma once

#include <string>
#include <vector>

#include "operator/api/kinds.h"
#include "operator/base/timestamp.h"

namespace weft::life {

// Adds the values that depend on the time to a live job before it is planned, so that decisions
// need no clock and a snapshot contains the values.

// expectedDurationSeconds of a job that has nodes becomes what is left of it.
void CountDown(api::TrainingJob& job, UnixSeconds now);
// Whether that changes it.
bool CountsDown(const api::TrainingJob& job);

// The annotations of decide/workload.h: nodes that are left out at that time, and how long it has
// waited: since its Placed condition says so, or it was made.
// Of a job between two attempts the nodes of the last one too, as `previous` has them.
void TellWait(api::TrainingJob& job, UnixSeconds now,
              const std::vector<std::string>& previous = {});
void TellWait(api::Placement& placement, UnixSeconds now);

// All of that for the objects of a live cluster, as the operator plans them.
void TellTime(api::Inputs& live, UnixSeconds now);

}  // namespace weft::life
