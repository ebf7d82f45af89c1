#pragma once

#include <string>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/api/kueue.h"
#include "operator/api/placement.h"
#include "operator/api/training_job.h"
#include "operator/base/timestamp.h"
#include "operator/life/exclusion.h"

namespace weft::life {

// Adds the values that depend on the time to a live job before it is planned, so that decisions
// need no clock and a snapshot contains the values.

// Reduces expectedDurationSeconds of a job that has nodes to the time that is left.
void CountDown(api::TrainingJob& job, UnixSeconds now);
// Whether CountDown changes the job.
bool CountsDown(const api::TrainingJob& job);

// By the creationTimestamp of the nodes, which must outlive it. Cost  O(nodes) at the first call.
NodeBirths BirthsIn(const SharedList<api::Node>& nodes);

// Sets `wait` (api/wait_facts.h): the nodes that are excluded now, and how long the job has waited
// since its condition Placed became False, or else since it was created. A job between two attempts
// also gets the nodes of the last one, from `previous`.
void SetWait(api::TrainingJob& job, UnixSeconds now, const NodeBirths& births,
             const std::vector<std::string>& previous = {});
void SetWait(api::Placement& placement, UnixSeconds now, const NodeBirths& births);
// How long a Workload of Kueue has waited: for nodes since its quota was reserved; for quota since
// Kueue last refused it, or else since it was created.
void SetWait(api::Workload& workload, UnixSeconds now);

// Does all of this to the objects of a live cluster, as the operator does before it plans. What has
// nodes also gets the nodes that it excludes, for answers about a loss of its nodes, but no wait.
void SetTimes(api::Inputs& live, UnixSeconds now);

}  // namespace weft::life
