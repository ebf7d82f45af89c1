#include "operator/cluster/gangs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "operator/api/pod_group.h"
#include "operator/base/natural_order.h"
#include "operator/cluster/job_owner.h"
#include "operator/cluster/pod_labels.h"
#include "operator/cluster/present_object.h"

namespace weft::cluster {
namespace {

constexpr const char* kWorkerIndex = "weft.dev/worker-index";

// Whether its PodGroup says better than its owner which pods run together.
bool IsByPodGroup(const api::Pod& pod) {
  if (pod.pod_group.empty() || JobOwnerOf(pod.meta)) return false;
  for (const char* key :
       {kLeaderWorkerSet, kJobSetName, kKubeflowJobName, kBatchJobName, kRayCluster, kPodGroup}) {
    if (FindLabel(pod, key)) return false;
  }
  return true;
}

// The labels and annotations by which schedulers are told that pods run together: coscheduling, its
// releases before the PodGroup, Koordinator, Goedel, Volcano and KAI. The last two also write a
// group on every other pod that they schedule, and name it after the pod or its owner.
struct GroupKey {
  const char* key;
  bool also_made = false;
};
constexpr GroupKey kGroupKeys[] = {
    {"scheduling.x-k8s.io/pod-group"},
    {"pod-group.scheduling.sigs.k8s.io"},
    {"pod-group.scheduling.sigs.k8s.io/name"},
    {"gang.scheduling.koordinator.sh/name"},
    {"godel.bytedance.com/pod-group-name"},
    {"scheduling.k8s.io/group-name", true},
    {"pod-group-name", true},
};

// A worker's position in its gang: replica type or job, then the index within it.
using Index = std::pair<std::int64_t, std::int64_t>;

bool FromTrainer(const api::Pod& pod) {
  const auto label = pod.meta.labels.lower_bound(kTrainerPrefix);
  return label != pod.meta.labels.end() && label->first.starts_with(kTrainerPrefix);
}

constexpr const char* kKubeflowGroup = "kubeflow.org";

// The kind of the controller; for pods of a Job, as a launcher is, the kind that the controller
// "pytorchjob-controller" or "mpi-operator" serves.
std::string KubeflowKind(const api::Pod& pod) {
  static constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"pytorchjob", "PyTorchJob"}, {"mpi", "MPIJob"},       {"tfjob", "TFJob"},
      {"xgboostjob", "XGBoostJob"}, {"paddle", "PaddleJob"}, {"jaxjob", "JAXJob"},
  };
  const api::OwnerReference* controller = ControllerOf(pod);
  if (controller != nullptr && controller->kind != "Job") return controller->kind;
  if (const auto by = FindLabel(pod, kKubeflowOperator)) {
    for (const auto& [prefix, kind] : kKinds) {
      if (by->starts_with(prefix)) return std::string(kind);
    }
  }
  return "PyTorchJob";
}

// A sort key: the replica with rank 0 (master, chief or launcher) comes first.
std::int64_t ReplicaTypeRank(const api::Pod& pod) {
  auto type = FindLabel(pod, kKubeflowType);
  if (!type) type = FindLabel(pod, kKubeflowRole);
  if (!type) type = FindLabel(pod, "replica-type");
  if (!type) return 1;
  std::string& lower = *type;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower == "master" || lower == "chief" || lower == "launcher" ? 0 : 1;
}

std::optional<Index> IndexOf(const api::Pod& pod, const std::string& kind) {
  const auto alone = [&](const char* key) -> std::optional<Index> {
    const auto number = FindNumber(pod, key);
    return number ? std::optional<Index>({0, *number}) : std::nullopt;
  };
  if (kind == "TrainingJob") return alone(kWorkerIndex);
  if (kind == "LeaderWorkerSet") return alone(kLeaderWorker);
  if (kind == "StatefulSet") return alone(kStatefulIndex);
  if (kind == kPodGroupKind) return alone(kPodGroupIndex);
  if (kind == "JobSet" || kind == "TrainJob") {
    auto job = FindNumber(pod, kJobSetGlobalIndex);
    if (!job) job = FindNumber(pod, kJobSetIndex);
    const auto completion = FindNumber(pod, kCompletionIndex);
    if (!completion) return std::nullopt;
    return Index{job.value_or(0), *completion};
  }
  if (FindLabel(pod, kKubeflowJobName)) {
    auto index = FindNumber(pod, kKubeflowIndex);
    if (!index) index = FindNumber(pod, "replica-index");
    const std::int64_t type = ReplicaTypeRank(pod);
    if (!index && type == 0) index = 0;  // a launcher has no index
    return index ? std::optional<Index>({type, *index}) : std::nullopt;
  }
  return alone(kCompletionIndex);
}

// Tells owners of one kind and name apart: the API group, as of a Job of Volcano and one of
// Kubernetes, and the uid, as of an object that was made again under its name.
using Identity = std::pair<std::string, std::string>;

Identity IdentityOf(const api::Pod& pod) {
  if (IsByPodGroup(pod)) return {api::kSchedulingGroup, ""};
  if (const auto uid = FindLabel(pod, kJobSetUid)) return {"", *uid};
  // The pods of one of these have Jobs or StatefulSets of their own as controllers.
  if (FindLabel(pod, kJobSetName) || FindLabel(pod, kLeaderWorkerSet)) return {};
  const api::OwnerReference* controller = ControllerOf(pod);
  if (controller == nullptr) return {"", FindLabel(pod, kBatchJobUid).value_or("")};
  // A launcher of MPI is a pod of a Job, its workers are pods of the MPIJob.
  if (FindLabel(pod, kKubeflowJobName) && controller->kind == "Job") return {};
  return {std::string(GroupOf(*controller)), controller->uid};
}

// Moves the members that are of an earlier object of the gang's name to a gang of their own.
std::optional<Gang> TakeEarlier(const SharedList<api::Pod>& pods, Gang& gang) {
  PresentObject present;
  for (const std::size_t p : gang.pods) present.Add(pods[p]);
  const auto earlier = std::stable_partition(gang.pods.begin(), gang.pods.end(),
                                             [&](std::size_t p) { return present.Has(pods[p]); });
  if (earlier == gang.pods.end()) return std::nullopt;
  Gang rest{
      .key = gang.key, .kind = gang.kind, .group = gang.group, .pods = {earlier, gang.pods.end()}};
  gang.pods.erase(earlier, gang.pods.end());
  return rest;
}

// Sorts by index if every pod has its own, else by name.
void SortMembers(const SharedList<api::Pod>& pods, Gang& gang) {
  std::vector<std::pair<Index, std::size_t>> by_index;
  for (const std::size_t p : gang.pods) {
    if (const auto index = IndexOf(pods[p], gang.kind)) by_index.push_back({*index, p});
  }
  std::sort(by_index.begin(), by_index.end());
  const bool twice =
      std::adjacent_find(by_index.begin(), by_index.end(), [](const auto& a, const auto& b) {
        return a.first == b.first;
      }) != by_index.end();
  gang.indexed = by_index.size() == gang.pods.size() && !twice;
  if (gang.indexed) {
    for (std::size_t i = 0; i < by_index.size(); ++i) gang.pods[i] = by_index[i].second;
    return;
  }
  std::sort(gang.pods.begin(), gang.pods.end(), [&](std::size_t a, std::size_t b) {
    return NaturalLess(pods[a].meta.key.name, pods[b].meta.key.name);
  });
}

}  // namespace

PodOwner OwnerOf(const api::Pod& pod) {
  const std::string& space = pod.meta.key.space;
  if (auto owner = JobOwnerOf(pod.meta)) {
    return {{space, std::move(owner->name)}, "TrainingJob", api::kGroup};
  }
  if (const auto set = FindLabel(pod, kLeaderWorkerSet)) {
    const auto group = FindLabel(pod, kLeaderGroup);
    return {
        {space, *set + (group ? "-" + *group : "")}, "LeaderWorkerSet", "leaderworkerset.x-k8s.io"};
  }
  if (const auto set = FindLabel(pod, kJobSetName)) {
    if (FromTrainer(pod)) return {{space, *set}, "TrainJob", "trainer.kubeflow.org"};
    return {{space, *set}, "JobSet", "jobset.x-k8s.io"};
  }
  if (const auto job = FindLabel(pod, kKubeflowJobName)) {
    return {{space, *job}, KubeflowKind(pod), kKubeflowGroup};
  }
  if (IsByPodGroup(pod)) return {{space, pod.pod_group}, kPodGroupKind, api::kSchedulingGroup};
  if (const api::OwnerReference* controller = ControllerOf(pod)) {
    const auto part = controller->kind == "RayCluster" ? FindLabel(pod, kRayGroup) : std::nullopt;
    return {{space, controller->name + (part ? "-" + *part : "")},
            controller->kind,
            std::string(GroupOf(*controller))};
  }
  if (const auto job = FindLabel(pod, kBatchJobName)) return {{space, *job}, "Job", "batch"};
  if (const auto group = pod.meta.labels.At(kPodGroup)) {
    return {{space, std::string(*group)}, kPodGroupKind};
  }
  if (auto group = SchedulersGroup(pod)) return {{space, *std::move(group)}, kPodGroupKind};
  return {pod.meta.key, ""};
}

std::optional<std::string> SchedulersGroup(const api::Pod& pod) {
  // "podgroup-UID" says nothing: most such groups have one member.
  const auto is_after = [](const std::string& group, const std::string& uid) {
    return !uid.empty() && group.ends_with("-" + uid);
  };
  for (const GroupKey& one : kGroupKeys) {
    auto group = FindLabel(pod, one.key);
    if (!group || group->empty()) continue;
    bool made = one.also_made && is_after(*group, pod.meta.uid);
    for (const api::OwnerReference& owner : pod.meta.owners) {
      made = made || (one.also_made && is_after(*group, owner.uid));
    }
    if (!made) return group;
  }
  return std::nullopt;
}

std::string KindText(const std::string& kind, const std::string& group, bool with_group) {
  return with_group && !group.empty() ? kind + "." + group : kind;
}

std::vector<Gang> FindGangs(const SharedList<api::Pod>& pods,
                            const std::vector<std::size_t>& chosen) {
  std::map<std::tuple<std::string, api::ObjectKey, Identity>, std::vector<std::size_t>> by_owner;
  for (const std::size_t p : chosen) {
    PodOwner owner = OwnerOf(pods[p]);
    if (owner.kind.empty() || pods[p].meta.deleting) continue;
    by_owner[{std::move(owner.kind), std::move(owner.key), IdentityOf(pods[p])}].push_back(p);
  }
  std::vector<Gang> gangs;
  for (auto at = by_owner.begin(); at != by_owner.end(); ++at) {
    auto& [owner, members] = *at;
    const auto& [kind, key, identity] = owner;
    // A launcher, which says less of its owner, sorts before the workers.
    if (const auto next = std::next(at); identity == Identity() && next != by_owner.end() &&
                                         std::get<0>(next->first) == kind &&
                                         std::get<1>(next->first) == key) {
      next->second.insert(next->second.end(), members.begin(), members.end());
      continue;
    }
    std::string group = OwnerOf(pods[members.back()]).group;
    Gang gang{.key = key, .kind = kind, .group = std::move(group), .pods = std::move(members)};
    auto earlier = TakeEarlier(pods, gang);
    SortMembers(pods, gang);
    gangs.push_back(std::move(gang));
    if (!earlier) continue;
    SortMembers(pods, *earlier);
    gangs.push_back(*std::move(earlier));
  }
  return gangs;
}

}  // namespace weft::cluster
