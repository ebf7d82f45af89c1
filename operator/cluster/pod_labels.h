#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operator/api/pod.h"

// Labels that the controllers of other kinds write on their pods.
// Source  kubernetes 1.36 batch/v1; jobset pkg/constants and api/jobset/v1alpha2; lws
//         api/leaderworkerset/v1; training-operator pkg/apis/kubeflow.org/v1; mpi-operator
//         pkg/controller; kuberay ray-operator/controllers/ray/utils/constant.go; kueue
//         pkg/controller/jobs/pod; trainer manifests/base/runtimes; volcano.sh/apis
//         pkg/apis/scheduling/v1beta1; scheduler-plugins KEP-42, 2026.
namespace weft::cluster {

inline constexpr const char* kBatchJobName = "batch.kubernetes.io/job-name";
inline constexpr const char* kBatchJobUid = "batch.kubernetes.io/controller-uid";
inline constexpr const char* kCompletionIndex = "batch.kubernetes.io/job-completion-index";
inline constexpr const char* kJobSetName = "jobset.sigs.k8s.io/jobset-name";
inline constexpr const char* kJobSetUid = "jobset.sigs.k8s.io/jobset-uid";
inline constexpr const char* kJobSetPart = "jobset.sigs.k8s.io/replicatedjob-name";
inline constexpr const char* kJobSetJobs = "jobset.sigs.k8s.io/replicatedjob-replicas";
inline constexpr const char* kJobSetGlobalIndex = "jobset.sigs.k8s.io/job-global-index";
inline constexpr const char* kJobSetIndex = "jobset.sigs.k8s.io/job-index";
inline constexpr const char* kJobSetAttempt = "jobset.sigs.k8s.io/restart-attempt";
inline constexpr const char* kJobSetExclusive = "alpha.jobset.sigs.k8s.io/exclusive-topology";
inline constexpr const char* kJobSetNodeSelector = "alpha.jobset.sigs.k8s.io/node-selector";
// The replicated jobs of Kubeflow Trainer's runtimes; with MPI the launcher may be a node too.
inline constexpr const char* kTrainerLauncher = "launcher";
inline constexpr const char* kTrainerNode = "node";
inline constexpr const char* kTrainerPrefix = "trainer.kubeflow.org/";
inline constexpr const char* kKubeflowJobName = "training.kubeflow.org/job-name";
inline constexpr const char* kKubeflowOperator = "training.kubeflow.org/operator-name";
inline constexpr const char* kKubeflowType = "training.kubeflow.org/replica-type";
inline constexpr const char* kKubeflowRole = "training.kubeflow.org/job-role";
inline constexpr const char* kKubeflowIndex = "training.kubeflow.org/replica-index";
inline constexpr const char* kLeaderWorkerSet = "leaderworkerset.sigs.k8s.io/name";
inline constexpr const char* kLeaderGroup = "leaderworkerset.sigs.k8s.io/group-index";
inline constexpr const char* kLeaderWorker = "leaderworkerset.sigs.k8s.io/worker-index";
inline constexpr const char* kLeaderSize = "leaderworkerset.sigs.k8s.io/size";  // an annotation
inline constexpr const char* kLeaderExclusive =
    "leaderworkerset.sigs.k8s.io/exclusive-topology";  // an annotation
inline constexpr const char* kSubgroupExclusive =
    "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";  // an annotation
inline constexpr const char* kRayCluster = "ray.io/cluster";
inline constexpr const char* kRayGroup = "ray.io/group";
inline constexpr const char* kRayReplica = "ray.io/worker-group-replica-index";
inline constexpr const char* kRayHost = "ray.io/replica-host-index";
inline constexpr const char* kStatefulIndex = "apps.kubernetes.io/pod-index";
inline constexpr const char* kPodGroup = "kueue.x-k8s.io/pod-group-name";
inline constexpr const char* kPodGroupSize = "kueue.x-k8s.io/pod-group-total-count";
inline constexpr const char* kPodGroupIndex = "kueue.x-k8s.io/pod-group-pod-index";
// How many pods must start together, of Volcano and of the coscheduling plug-in.
inline constexpr const char* kVolcanoMinMember = "scheduling.volcano.sh/group-min-member";
inline constexpr const char* kCoschedulingMin = "pod-group.scheduling.sigs.k8s.io/min-available";

// The label of that name, else the annotation.
std::optional<std::string> FindLabel(const api::Pod& pod, std::string_view key);
// The same as a whole number of at least 0; nothing if the text is not one.
std::optional<std::int64_t> FindNumber(const api::Pod& pod, std::string_view key);
// The pod's controller, by owner reference; null if there is none.
const api::OwnerReference* ControllerOf(const api::Pod& pod);
// Its API group: "batch" of "batch/v1", "" of "v1".
std::string_view GroupOf(const api::OwnerReference& owner);

}  // namespace weft::cluster
