#include "operator/cluster/gang_members.h"

#include <utility>

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

bool IsOfGroup(const api::Pod& pod) { return pod.meta.labels.contains(kLeaderWorkerSet); }

bool Contains(const std::vector<std::string_view>& uids, std::string_view uid) {
  return std::find(uids.begin(), uids.end(), uid) != uids.end();
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

void PresentObject::Add(const api::Pod& pod) {
  const std::string_view created = pod.meta.creation_timestamp;
  if (IsOfGroup(pod) && FindNumber(pod, kLeaderWorker) == 0) {
    leader_created_ = std::max(leader_created_, created);
  }
  const api::OwnerReference* controller = ControllerOf(pod);
  if (controller == nullptr) return;
  Latest& latest = controllers_[{GroupOf(*controller), controller->kind, controller->name}];
  const auto rank = std::pair(!pod.meta.deleting, created);
  const auto before = std::pair(latest.stays, latest.created);
  if (!latest.uids.empty() && rank < before) return;
  if (rank > before) latest = {rank.first, created, {}};
  if (!Contains(latest.uids, controller->uid)) latest.uids.push_back(controller->uid);
}

bool PresentObject::Has(const api::Pod& pod) const {
  const std::string_view created = pod.meta.creation_timestamp;
  if (IsOfGroup(pod) && !created.empty() && created < leader_created_) return false;
  const api::OwnerReference* controller = ControllerOf(pod);
  if (controller == nullptr) return true;
  const auto found = controllers_.find({GroupOf(*controller), controller->kind, controller->name});
  return found == controllers_.end() || Contains(found->second.uids, controller->uid);
}

}  // namespace weft::cluster
