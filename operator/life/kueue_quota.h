#pragma once

#include <optional>

#include "operator/life/life.h"

namespace weft::life {

// TrainingJobs in queues of Kueue: with the label kueue.x-k8s.io/queue-name a job owns one Workload
// and starts only under its quota.
//
//   no Workload         it is created, with one pod set for all workers
//   no quota            nothing runs; the condition Placed has Kueue's message
//   quota reserved      nothing runs. If Weft's own AdmissionCheck is among those that Kueue waits
//                       for, nodes are chosen: the check becomes Ready when they are
//                       (kueue_check.h)
//   Admitted            status.queue says what the quota's flavors and the checks add to the pods;
//                       then the job is planned and runs as any other
//   Evicted             the attempt is undone without being counted; when its pods are gone, one
//                       patch gives the quota back, and the job waits again
//   suspended, deleted  the Workload is deleted when the pods are gone
//   Complete, Failed    condition Finished, when the pods have ended
//
// A job that runs already when it gets the label keeps running: it is queued when it next has no
// nodes. A label that changes under reserved quota counts from the next time that it waits.

// What Kueue requires of the job before, or beside, the step that it would do alone; nothing if
// nothing. To be called for a job that is not finished, suspended or being deleted.
// Cost  O(pods + placements).
std::optional<JobStep> QueueStep(Life& life);

// Whether the job must give its quota back: Kueue evicts its Workload, or somebody deletes it.
bool OwesQuota(const Life& life);
// Of such a job that is not being taken down: ends its attempt, or gives the quota back when its
// pods are gone.
JobStep GiveBackStep(Life& life);

// Of a job that is suspended or being deleted, whose pods are gone: deletes its Workloads and
// status.queue. Nothing if both are gone.
std::optional<JobStep> LeaveQueue(const Life& life);

// Of a job that is Complete or Failed: tells Kueue when no pod runs any more. Nothing if it is
// told.
std::optional<JobStep> FinishWorkload(const Life& life);

// Whether the condition Placed says that the job waits for Kueue, not for nodes.
bool WaitsForKueue(const JobStatus& status);

// The name of the job's Workload (at most 63 characters).
std::string WorkloadName(const api::ObjectMeta& job);

}  // namespace weft::life
