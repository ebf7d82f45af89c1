#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/pod.h"

namespace weft::cluster {

// Pods that run together. They are found by owner and index labels of Job, JobSet, TrainJob,
// PyTorchJob and the other Kubeflow jobs, MPIJob, LeaderWorkerSet (each group is a gang) and
// TrainingJob.
struct Gang {
  api::ObjectKey key;  // of the owner; "name-<group>" for a LeaderWorkerSet
  std::string kind;
  std::vector<std::size_t> pods;  // indices into the given pods, by worker
  bool indexed = false;           // false: a pod has no index, so all are in order of name
};

// Name and kind of the gang that a pod belongs to; kind "" for a pod without a controller.
struct PodOwner {
  api::ObjectKey key;
  std::string kind;
};
PodOwner OwnerOf(const api::Pod& pod);

// Groups the pods whose index in `pods` is in `chosen`, without those that end. Owners of another
// API group or uid have gangs of their own. Gangs are in order of kind, then key; members in order
// of worker index, then name (NaturalLess: job-2 before job-10).
std::vector<Gang> FindGangs(const SharedList<api::Pod>& pods,
                            const std::vector<std::size_t>& chosen);

}  // namespace weft::cluster
