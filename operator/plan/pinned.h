#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/base/worker_index.h"
#include "operator/cluster/workload.h"

namespace weft::plan {

// Reason of a note of a plan entry, and of the condition Placed.
inline constexpr const char* kPodsPinned = "PodsPinned";

// The hosts of a gang whose pods another scheduler has pinned already, each to its own node, as
// Kueue's topology-aware scheduling does: by worker, from the pods' nodeSelector
// kubernetes.io/hostname. Empty: the pods are not pinned, or all to one host, which is a wish of
// their template that the solver heeds.
//
// Errors  kInvalid, a sentence that names two pods: one is pinned, the other is not.
// Cost    O(pods of the namespace) for a Placement with a podSelector.
Result<ByWorker<std::string>> PinnedHosts(const api::Inputs& inputs,
                                          const cluster::WorkloadView& workload);

}  // namespace weft::plan
