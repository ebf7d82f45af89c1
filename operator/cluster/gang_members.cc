#include "operator/cluster/gang_members.h"

#include <algorithm>

#include "operator/cluster/foreign_gang.h"
#include "operator/cluster/pod_labels.h"
#include "operator/fabric/selector.h"

namespace weft::cluster {
namespace {

// Whether another object of the same API group, kind and name controls the pod.
bool IsOfNamesake(const api::OwnerReference& owner, const api::Pod& pod) {
  const api::OwnerReference* controller = ControllerOf(pod);
  return controller != nullptr && controller->kind == owner.kind &&
         controller->name == owner.name && controller->uid != owner.uid &&
         GroupOf(*controller) == GroupOf(owner);
}

}  // namespace

bool IsHandedOver(const api::Placement& placement, const api::Pod& pod) {
  return !placement.meta.uid.empty() &&
         pod.meta.annotations.At(kPlacementUidAnnotation) == placement.meta.uid;
}

bool Selects(const api::Placement& placement, const api::Pod& pod) {
  if (!placement.pod_selector || !fabric::Matches(*placement.pod_selector, pod.meta.labels)) {
    return false;
  }
  const auto base = placement.meta.labels.At(kGangLabel);
  if (!base || IsHandedOver(placement, pod)) return true;
  const auto gang = ForeignGangOf(pod);
  if (!gang || gang->base != *base) return false;
  const auto& owners = placement.meta.owners;
  return std::none_of(owners.begin(), owners.end(),
                      [&](const auto& owner) { return IsOfNamesake(owner, pod); });
}

}  // namespace weft::cluster
