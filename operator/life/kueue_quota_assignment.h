#pragma once

#include "operator/base/result.h"
#include "operator/life/job_view.h"

namespace weft::life {

// status.queue of a job: the queue, and what its admission adds to every pod.
//   {"name", "clusterQueue", "workload", "nodeSelector", "tolerations", "labels", "annotations"}
// The node labels and tolerations are those of the assigned flavors, together with the pod set
// updates of all AdmissionChecks.
// Errors  kNotFound for a flavor, which may still come; kInvalid if the job cannot start with this
//         assignment: fewer workers than it asks for, a flavor with topologyName, or two values for
//         one key.
Result<api::Raw> AssignmentOf(const api::TrainingJob& job, const api::Workload& workload,
                              const QueueView& queue);

// status.queue as it stands; null if it is absent.
api::Raw QueueOf(const api::TrainingJob& job);

}  // namespace weft::life
