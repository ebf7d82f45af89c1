#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/base/result.h"
#include "operator/base/worker_index.h"

namespace weft::cluster {

// A pod and its worker index in a Placement.
struct WorkerPod {
  const api::Pod* pod = nullptr;
  WorkerIndex worker;

  friend bool operator==(const WorkerPod&, const WorkerPod&) = default;
};

// Assigns a worker to each pod: by spec.workerIndexLabels, else free workers in the order of the
// pods' names. The result is in order of workers. `taken[worker]` is the pod that has this worker
// already, or null.
// Errors  kInvalid, a sentence that names the pods: index missing, out of range or used twice, or
//         too many pods.
// Cost    O(pods log pods).
Result<std::vector<WorkerPod>> AssignWorkers(const api::Placement& placement,
                                             std::vector<const api::Pod*> pods,
                                             const ByWorker<const api::Pod*>& taken);

// The worker that was written to the pod when it lost its gate; nothing if it never had it, or if
// there are only `workers`.
std::optional<WorkerIndex> MarkedWorker(const api::Pod& pod, std::size_t workers);

// Workers of one Job that have succeeded, whether their pods are still there or not.
struct Completed {
  std::string job;      // its uid
  std::string indexes;  // completed_indexes.h; empty: none has
  friend bool operator==(const Completed&, const Completed&) = default;
};

// What status.completedJob and completedIndexes remember.
Completed CompletedOf(const api::Placement& placement);
// Of a Job as the API server has it. Only an Indexed one with a completion for each worker makes no
// pod again for a worker that has succeeded.
Completed CompletedOf(const nlohmann::json& job, std::uint32_t workers);
// The Job that all these pods are of; null if there is none.
const api::OwnerReference* JobOf(const std::vector<const api::Pod*>& pods);

// The pod that has Succeeded as this worker, which therefore needs no pod and no node
// any more; null for all others. `pods`: any of the Placement; `waiting`: those of them that wait
// for nodes; `running`: how many hold or keep the node of a worker.
//   - Of a JobSet only pods of the attempt that waits count: a restart makes all pods anew.
//   - A worker whose pod is gone is done if the Placement remembers that it has succeeded in the
//     Job of the pods that wait, and no pod waits or runs as this worker: then the result has a pod
//     without a node.
//   - If the waiting and running pods need more workers than these leave, the controller goes on
//     after some have Succeeded, and no worker is done.
ByWorker<const api::Pod*> DoneWorkers(const api::Placement& placement, std::size_t workers,
                                      const std::vector<const api::Pod*>& pods,
                                      const std::vector<const api::Pod*>& waiting,
                                      std::size_t running);

// Whether the pod waits for a Placement: Weft's gate is its only scheduling gate.
bool IsGated(const api::Pod& pod);
// Whether Weft's gate is among the pod's gates.
bool HasGate(const api::Pod& pod);

}  // namespace weft::cluster
