#include "operator/report/half_gangs.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "operator/base/phrases.h"
#include "operator/base/units.h"
#include "operator/cluster/accelerator_resources.h"
#include "operator/cluster/gangs.h"
#include "operator/cluster/pod_labels.h"
#include "operator/cluster/worker_order.h"
#include "operator/fabric/node_facts.h"

namespace weft::report {
namespace {

using cluster::FindNumber;
using cluster::Gang;
using OrderedJson = nlohmann::ordered_json;

constexpr const char *kVolcanoGroup = "scheduling.k8s.io/group-name", *kKaiGroup = "pod-group-name";
constexpr const char* kKoordinatorMin = "gang.scheduling.koordinator.sh/min-available";

// The pods that a told size counts: with those without accelerators, such as a leader or a driver,
// and with those of other owners that another scheduler starts together with them, such as the head
// of a RayCluster.
class Members {
 public:
  Members(const SharedList<api::Pod>& pods, const std::vector<std::size_t>& all)
      : pods_(pods), gangs_(cluster::FindGangs(pods, all)) {
    for (const Gang& gang : gangs_) {
      for (const std::size_t p : gang.pods) {
        gang_of_[p] = &gang;
        if (const auto group = cluster::SchedulersGroup(pods[p])) {
          groups_[{pods[p].meta.key.space, *group}].push_back(p);
        }
      }
    }
  }

  std::vector<std::size_t> Of(const Gang& gang) const {
    std::set<std::size_t> members(gang.pods.begin(), gang.pods.end());
    const auto add = [&](const std::vector<std::size_t>& pods) {
      members.insert(pods.begin(), pods.end());
    };
    const std::size_t first = gang.pods.front();
    if (const auto whole = gang_of_.find(first); whole != gang_of_.end()) add(whole->second->pods);
    if (const auto group = cluster::SchedulersGroup(pods_[first])) {
      const auto found = groups_.find({pods_[first].meta.key.space, *group});
      if (found != groups_.end()) add(found->second);
    }
    return {members.begin(), members.end()};
  }

 private:
  const SharedList<api::Pod>& pods_;
  const std::vector<Gang> gangs_;
  std::map<std::size_t, const Gang*> gang_of_;
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> groups_;
};

// The pods that may be workers of gangs, and what is known of them.
class HalfGangFinder {
 public:
  HalfGangFinder(const api::Inputs& inputs, const std::string& space)
      : pods_(inputs.pods),
        least_members_(inputs.least_members),
        named_(cluster::NamedAcceleratorResources(inputs).all) {
    for (const api::PodGroup& group : inputs.pod_groups) {
      least_[group.meta.key] = group.min_count;
    }
    for (std::size_t p = 0; p < pods_.size(); ++p) {
      const api::Pod& pod = pods_[p];
      if (!space.empty() && pod.meta.key.space != space) continue;
      if (pod.phase == api::PodPhase::kFailed) continue;
      all_.push_back(p);
      if (AcceleratorsOf(pod) > 0) workers_.push_back(p);
      if (!pod.meta.deleting) continue;
      const cluster::PodOwner owner = cluster::OwnerOf(pod);
      ++ending_[{owner.kind, owner.key}];
    }
  }

  std::vector<HalfGang> Find() const {
    const std::vector<Gang> gangs = cluster::FindGangs(pods_, workers_);
    std::map<std::pair<std::string, api::ObjectKey>, std::set<std::string>> groups;
    for (const Gang& gang : gangs) groups[{gang.kind, gang.key}].insert(gang.group);
    std::optional<Members> members;
    std::set<std::pair<std::string, std::string>> counted;  // groups of schedulers
    std::vector<HalfGang> half;
    for (const Gang& gang : gangs) {
      if (StartsAlone(gang)) continue;
      const api::Pod& first = pods_[gang.pods.front()];
      const auto needed = NeededOf(gang, first);
      const bool is_short = needed.value_or(0) > CountOf(gang);
      if (is_short && !members) members.emplace(pods_, all_);
      const auto group = is_short ? cluster::SchedulersGroup(first) : std::nullopt;
      if (group && !counted.insert({first.meta.key.space, std::string(*group)}).second) continue;
      HalfGang one = Describe(gang, is_short ? members->Of(gang) : gang.pods, needed);
      if (one.placed == 0 || one.accelerators == 0 || one.placed >= one.workers) continue;
      const bool alike = groups[{gang.kind, gang.key}].size() > 1;
      one.kind = cluster::KindText(gang.kind, gang.group, alike);
      half.push_back(std::move(one));
    }
    return half;
  }

 private:
  std::int64_t AcceleratorsOf(const api::Pod& pod) const {
    std::int64_t sum = 0;
    for (const auto& [name, amount] : pod.pod.requests) {
      if (fabric::IsAcceleratorResource(name, named_)) sum = SaturatingAdd(sum, amount);
    }
    return sum;
  }

  // Whether the pods of such an owner run together, as far as is known: those of a service, a
  // workflow or a Spark driver need not.
  static bool RunsAsAWhole(const Gang& gang) {
    static constexpr auto kGroups = std::to_array<std::string_view>(
        {"batch", "batch.volcano.sh", "kubeflow.org", "jobset.x-k8s.io", "trainer.kubeflow.org",
         "leaderworkerset.x-k8s.io", "ray.io", api::kSchedulingGroup});
    return gang.kind == cluster::kPodGroupKind ||
           std::find(kGroups.begin(), kGroups.end(), gang.group) != kGroups.end();
  }

  // Whether the pods need not run together (also those of a Job whose pods take their work one by
  // one), or wait for Weft, which starts them as a whole.
  bool StartsAlone(const Gang& gang) const {
    if (gang.kind == "TrainingJob" || gang.kind == "DaemonSet") return true;
    const bool plain_job = gang.kind == "Job" && !gang.indexed &&
                           cluster::FindLabel(pods_[gang.pods.front()], cluster::kBatchJobName);
    if ((plain_job || !RunsAsAWhole(gang)) && !AreInOneGroup(gang)) return true;
    return std::any_of(gang.pods.begin(), gang.pods.end(),
                       [&](std::size_t p) { return cluster::HasGate(pods_[p]); });
  }

  // Whether another scheduler was told to start the pods together, whatever their owner.
  bool AreInOneGroup(const Gang& gang) const {
    if (LeastByLabel(pods_[gang.pods.front()])) return true;
    const auto group = cluster::SchedulersGroup(pods_[gang.pods.front()]);
    return group && std::all_of(gang.pods.begin(), gang.pods.end(), [&](std::size_t p) {
             return cluster::SchedulersGroup(pods_[p]) == group;
           });
  }

  // The least number of members that schedulers read from the pod itself or from their PodGroup.
  std::optional<std::int64_t> LeastByLabel(const api::Pod& pod) const {
    for (const char* key :
         {cluster::kVolcanoMinMember, cluster::kCoschedulingMin, kKoordinatorMin}) {
      if (const auto least = FindNumber(pod, key)) return least;
    }
    // Also a group that Volcano or KAI made for the pods' owner.
    for (const auto& group : {cluster::SchedulersGroup(pod), cluster::FindLabel(pod, kVolcanoGroup),
                              cluster::FindLabel(pod, kKaiGroup)}) {
      if (!group) continue;
      const auto least = least_members_.find({pod.meta.key.space, *group});
      if (least != least_members_.end()) return least->second;
    }
    return std::nullopt;
  }

  // How many must run together; nothing if the pods do not tell. The least number of members may
  // be smaller than the number of pods.
  std::optional<std::int64_t> NeededOf(const Gang& gang, const api::Pod& pod) const {
    if (gang.kind == "LeaderWorkerSet") return FindNumber(pod, cluster::kLeaderSize);
    if (gang.group == api::kSchedulingGroup) return LeastOf(pod);
    if (gang.kind == cluster::kPodGroupKind) {
      if (const auto size = FindNumber(pod, cluster::kPodGroupSize)) return size;
    }
    if (const auto least = LeastOfOneGroup(gang); least > 0) return least;
    return LeastByLabel(pod);
  }

  // By its PodGroup; 0: its pods need not run together. Nothing if the PodGroup is not known.
  std::optional<std::int64_t> LeastOf(const api::Pod& pod) const {
    const auto found = least_.find({pod.meta.key.space, pod.pod_group});
    return found == least_.end() ? std::nullopt : std::optional(found->second);
  }

  // By the PodGroup of Kubernetes that all pods of another controller's gang are in; 0 if there is
  // none, or one that lets each pod start alone: then the controller's own rules count.
  std::int64_t LeastOfOneGroup(const Gang& gang) const {
    const api::Pod& first = pods_[gang.pods.front()];
    if (first.pod_group.empty()) return 0;
    const bool one = std::all_of(gang.pods.begin(), gang.pods.end(), [&](std::size_t p) {
      return pods_[p].pod_group == first.pod_group;
    });
    return one ? LeastOf(first).value_or(0) : 0;
  }

  static std::int64_t CountOf(const Gang& gang) {
    return static_cast<std::int64_t>(gang.pods.size());
  }

  // `needed`: how many must run together; nothing: all members.
  HalfGang Describe(const Gang& gang, const std::vector<std::size_t>& members,
                    const std::optional<std::int64_t>& needed) const {
    HalfGang half;
    half.key = gang.key;
    const api::Pod* first = nullptr;  // that waits
    for (const std::size_t p : members) {
      const api::Pod& pod = pods_[p];
      if (pod.Holds()) half.accelerators = SaturatingAdd(half.accelerators, AcceleratorsOf(pod));
      if (pod.Holds() || pod.HasEnded()) {
        ++half.placed;
        continue;
      }
      half.waiting.push_back(pod.meta.key.name);
      if (first == nullptr) first = &pod;
    }
    const auto pods = static_cast<std::int64_t>(members.size());
    half.workers = needed.value_or(pods);
    // A pod that is being deleted is a worker until it is made again.
    const auto ending = ending_.find({gang.kind, gang.key});
    if (ending != ending_.end() && half.workers > pods) {
      half.workers = std::max(pods, half.workers - ending->second);
    }
    half.not_created = std::max<std::int64_t>(0, half.workers - pods);
    if (first != nullptr) half.why = WhyWaits(*first);
    return half;
  }

  static std::string WhyWaits(const api::Pod& pod) {
    if (pod.scheduling_gates.empty()) return pod.unscheduled;
    return "scheduling gate " + pod.scheduling_gates.front();
  }

  const SharedList<api::Pod>& pods_;
  const std::map<api::ObjectKey, std::int64_t>& least_members_;
  const std::vector<std::string> named_;
  std::map<api::ObjectKey, std::int64_t> least_;  // of PodGroups: minCount
  std::vector<std::size_t> all_, workers_;        // workers have accelerators
  std::map<std::pair<std::string, api::ObjectKey>, std::int64_t> ending_;  // pods being deleted
};

// "a-2 has no node: REASON", "a-2 and 3 more pods have no node: REASON"
std::string WaitingText(const HalfGang& gang) {
  const auto more = static_cast<std::int64_t>(gang.waiting.size()) - 1;
  std::string text = "; " + gang.waiting.front();
  text += more == 0 ? " has no node" : " and " + CountText(more, "more pod") + " have no node";
  return gang.why.empty() ? text : text + ": " + gang.why;
}

std::string TextOf(const HalfGang& gang) {
  std::string text = gang.kind + " " + api::Show(gang.key) + " holds " +
                     CountText(gang.accelerators, "accelerator") + " with " +
                     std::to_string(gang.placed) + " of " + CountText(gang.workers, "worker");
  if (!gang.waiting.empty()) text += WaitingText(gang);
  if (gang.not_created > 0) {
    text += "; " + CountText(gang.not_created, "worker") +
            (gang.not_created == 1 ? " has no pod" : " have no pod");
  }
  return text;
}

}  // namespace

std::vector<HalfGang> HalfGangs(const api::Inputs& inputs, const std::string& space) {
  return HalfGangFinder(inputs, space).Find();
}

std::vector<cluster::Note> NotesOf(const std::vector<HalfGang>& gangs) {
  std::vector<cluster::Note> notes;
  for (const HalfGang& gang : gangs) {
    notes.push_back({cluster::Severity::kWarning, "PartlyStarted", TextOf(gang)});
  }
  return notes;
}

OrderedJson HalfGangsJson(const std::vector<HalfGang>& gangs) {
  OrderedJson rows = OrderedJson::array();
  for (const HalfGang& gang : gangs) {
    rows.push_back({{"namespace", gang.key.space},
                    {"name", gang.key.name},
                    {"kind", gang.kind},
                    {"accelerators", gang.accelerators},
                    {"workersWithNode", gang.placed},
                    {"workers", gang.workers},
                    {"withoutNode", gang.waiting},
                    {"notCreated", gang.not_created}});
    if (!gang.why.empty()) rows.back()["why"] = gang.why;
  }
  return rows;
}

}  // namespace weft::report
