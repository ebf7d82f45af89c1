#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/pod.h"

namespace weft::cluster {

// The kind of a pod group: of Kueue, which is no object and has no API group, or of
// scheduling.k8s.io (api/pod_group.h).
inline constexpr const char* kPodGroupKind = "PodGroup";

// Pods that run together. They are found by owner and index labels of Job, JobSet, TrainJob,
// PyTorchJob and the other Kubeflow jobs, MPIJob, LeaderWorkerSet (each group is a gang),
// TrainingJob and pod groups of Kueue, and by their PodGroup (api/pod_group.h) where the owner is
// none of these.
struct Gang {
  api::ObjectKey key;  // of the owner; "name-<group>" for a LeaderWorkerSet or RayCluster
  std::string kind;
  std::string group;              // the owner's API group
  std::vector<std::size_t> pods;  // indices into the given pods, by worker
  bool indexed = false;           // false: a pod has no index, so all are in order of name
};

// Name and kind of the gang that a pod belongs to; kind "" for a pod without a controller.
struct PodOwner {
  api::ObjectKey key;
  std::string kind;
  std::string group = {};  // the API group of the kind; "" for pods and pod groups
};
PodOwner OwnerOf(const api::Pod& pod);

// The group in which another scheduler was told to start the pod together with others, by the
// labels and annotations of coscheduling, Koordinator, Goedel, Volcano and KAI; nothing without
// one. A group that the scheduler made for the pod or its owner alone does not count.
std::optional<std::string> SchedulersGroup(const api::Pod& pod);

// "Job", or "Job.batch.volcano.sh" where the kind alone does not tell the object from another.
std::string KindText(const std::string& kind, const std::string& group, bool with_group);

// Groups the pods whose index in `pods` is in `chosen`, without those that end. Owners of another
// API group or uid have gangs of their own, and so have pods of an earlier object of a name
// (PresentObject). Gangs are in order of kind, then key; members in order of worker index, then
// name (NaturalLess: job-2 before job-10).
std::vector<Gang> FindGangs(const SharedList<api::Pod>& pods,
                            const std::vector<std::size_t>& chosen);

}  // namespace weft::cluster
