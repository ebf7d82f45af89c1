#include "operator/watch/object_facts.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "operator/api/gang_annotations.h"
#include "operator/api/kueue.h"
#include "operator/base/seeded_bug.h"
#include "operator/base/short_hash.h"
#include "operator/cluster/foreign_gang.h"
#include "operator/life/kueue_check.h"

namespace weft::watch {
namespace {

// "train-0a1b2c3d" and "train-99887766" are two reservations of one pod set.
std::string WithoutHash(std::string_view name) {
  const std::size_t digits = ShortHash("").size();
  if (name.size() <= digits + 1 || name[name.size() - digits - 1] != '-') return std::string(name);
  const std::string_view end = name.substr(name.size() - digits);
  if (end.find_first_not_of("0123456789abcdef") != end.npos) return std::string(name);
  return std::string(name.substr(0, name.size() - digits - 1));
}

}  // namespace

bool IsReady(const api::Node& node) {
  if (!node.unreadable.empty()) return true;
  return std::any_of(node.facts.conditions.begin(), node.facts.conditions.end(),
                     [](const auto& c) { return c.type == "Ready" && c.status == "True"; });
}

bool HoldAlike(const api::Pod& a, const api::Pod& b) {
  return a.node_name == b.node_name && a.Holds() == b.Holds() && a.pod.requests == b.pod.requests &&
         a.scheduling_gates == b.scheduling_gates && a.meta.labels == b.meta.labels &&
         a.nominated_node == b.nominated_node &&
         a.meta.deleting == b.meta.deleting;  // a spread does not count it
}

bool SpecIsTheSame(const api::Fabric& a, const api::Fabric& b) {
  return a.meta.uid == b.meta.uid && a.meta.generation == b.meta.generation &&
         a.unreadable == b.unreadable;
}

bool RequestsPlacement(const api::Pod& pod) {
  return pod.meta.labels.At(api::kPlaceLabel) == "true" &&
         !pod.meta.labels.contains(api::kPlacementLabel) && !api::ControllingJob(pod.meta);
}

bool Selects(const api::Placement& placement) {
  return placement.pod_selector && !api::ControllingJob(placement.meta);
}

std::optional<api::ObjectKey> GangOf(const api::Pod& pod) {
  const std::string& space = pod.meta.key.space;
  if (const auto name = pod.meta.labels.At(api::kPlacementLabel)) {
    return api::ObjectKey{space, WithoutHash(*name)};
  }
  if (!RequestsPlacement(pod)) return std::nullopt;
  const auto gang = cluster::ForeignGangOf(pod);
  return api::ObjectKey{space, gang ? gang->base : ""};
}

std::optional<api::ObjectKey> GangOf(const api::Placement& placement) {
  if (!Selects(placement)) return std::nullopt;
  const std::string& space = placement.meta.key.space;
  const auto& labels = placement.pod_selector->match_labels;
  if (const auto name = labels.find(api::kPlacementLabel); name != labels.end()) {
    return api::ObjectKey{space, WithoutHash(name->second)};
  }
  const auto base = placement.meta.labels.At(cluster::kGangLabel);
  if (!base || !labels.contains(api::kPlaceLabel)) return std::nullopt;
  return api::ObjectKey{space, std::string(*base)};
}

std::pair<std::string, std::string> OwnerKey(const std::string& space, const std::string& uid) {
  return {Seeded(Bug::kOwnerOfAnySpace) ? "" : space, uid};
}

std::uint32_t SucceededPods(const api::Workload& workload) {
  std::uint32_t sum = 0;
  for (const api::PodSet& set : workload.pod_sets) sum += set.succeeded;
  return sum;
}

bool WasWorkerOf(const api::Placement& placement, const api::Pod& pod) {
  return api::ControllingWorkload(placement.meta) && pod.phase == api::PodPhase::kSucceeded &&
         pod.meta.labels.At(life::kPodSetLabel) == placement.meta.labels.At(life::kPodSetLabel);
}

api::Pod Onto(const api::Pod& before, const api::Pod& unreadable) {
  api::Pod pod = before;
  pod.meta.resource_version = unreadable.meta.resource_version;
  pod.meta.deleting = unreadable.meta.deleting;
  pod.meta.deletion_timestamp = unreadable.meta.deletion_timestamp;
  pod.node_name = unreadable.node_name;
  pod.phase = unreadable.phase;
  return pod;
}

}  // namespace weft::watch
