#include "operator/cluster/present_object.h"

#include <algorithm>
#include <utility>

#include "operator/cluster/pod_labels.h"

namespace weft::cluster {
namespace {

bool IsOfGroup(const api::Pod& pod) { return pod.meta.labels.contains(kLeaderWorkerSet); }

bool Contains(const std::vector<std::string_view>& uids, std::string_view uid) {
  return std::find(uids.begin(), uids.end(), uid) != uids.end();
}

}  // namespace

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
