#pragma once

#include <vector>

#include "operator/cluster/cluster.h"
#include "operator/report/queue_row.h"

namespace weft::report {

// PodGroups of other controllers (api/pod_group.h) that ask for accelerators and of which
// kube-scheduler has bound no pod: demand on the same nodes, which the plan does not see. Without
// groups whose pods Weft places (a TrainingJob's, those that have or wait for a Placement), which
// are in the queue by other names, and without groups that start pod by pod. By priority, then by
// age; without position and expected start, which kube-scheduler decides.
// Cost  O(pods log pods).
std::vector<QueueRow> WaitingPodGroups(const cluster::Cluster& cluster);

}  // namespace weft::report
