#include "operator/watch/object_facts.h"

#include <algorithm>

#include "operator/api/gang_annotations.h"
#include "operator/api/kueue.h"
#include "operator/life/ungate.h"

namespace weft::watch {

bool IsReady(const api::Node& node) {
  if (!node.unreadable.empty()) return true;
  return std::any_of(node.facts.conditions.begin(), node.facts.conditions.end(),
                     [](const auto& c) { return c.type == "Ready" && c.status == "True"; });
}

bool HoldAlike(const api::Pod& a, const api::Pod& b) {
  return a.node_name == b.node_name && a.Holds() == b.Holds() && a.pod.requests == b.pod.requests &&
         a.scheduling_gates == b.scheduling_gates && a.meta.labels == b.meta.labels;
}

bool SpecIsTheSame(const api::Fabric& a, const api::Fabric& b) {
  return a.meta.uid == b.meta.uid && a.meta.generation == b.meta.generation &&
         a.unreadable == b.unreadable;
}

bool Waits(const api::Placement& placement) {
  return placement.nodes.empty() && !placement.meta.deleting && placement.unreadable.empty() &&
         !api::ControllingJob(placement.meta) && !api::ControllingWorkload(placement.meta) &&
         life::IsPlanned(placement);
}

bool AsksForPlacement(const api::Pod& pod) {
  return pod.meta.labels.At(api::kPlaceLabel) == "true" &&
         !pod.meta.labels.contains(api::kPlacementLabel) && !api::ControllingJob(pod.meta);
}

bool Selects(const api::Placement& placement) {
  return placement.pod_selector && !api::ControllingJob(placement.meta);
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
