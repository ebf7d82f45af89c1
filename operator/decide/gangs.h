#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/kinds.h"

namespace weft::decide {

// Pods that run as one: found by owner and index labels of Job, JobSet, TrainJob, PyTorchJob and
// the other Kubeflow jobs, MPIJob, LeaderWorkerSet (one gang a group) and TrainingJob.
struct Gang {
  api::ObjectKey key;  // of the owner; a LeaderWorkerSet's group "name-<group>"
  std::string kind;
  std::vector<std::size_t> pods;  // into the pods given, by worker
  bool indexed = false;           // false: by name, for want of an index on every pod
};

// Name and kind of the gang that a pod belongs to; kind "" for a pod without a controller.
struct PodOwner {
  api::ObjectKey key;
  std::string kind;
};
PodOwner OwnerOf(const api::Pod& pod);

// Every pod of `pods` whose index is in `chosen`, grouped; gangs by kind, then key. Members by
// index, then name as people count (job-2 before job-10).
std::vector<Gang> FindGangs(const SharedList<api::Pod>& pods,
                            const std::vector<std::size_t>& chosen);

// Names with numbers in them, as people count.
bool NaturalLess(std::string_view a, std::string_view b);

}  // namespace weft::decide
