#include "tests/world/group_protection.h"

#include <algorithm>
#include <utility>

#include "operator/kube/requests.h"
#include "tests/world/actor.h"
#include "tests/world/pod_groups.h"

namespace weft::world {

GroupProtection::GroupProtection(ApiServer& server, std::string user)
    : server_(server), user_(std::move(user)) {}

void GroupProtection::SetGate(bool on) {
  on_ = on;
  idle_at_ = 0;
}

bool GroupProtection::Step() {
  if (!on_ || server_.version() == idle_at_) return false;
  for (const auto& [key, group] : server_.All(kPodGroupResource)) {
    if (!IsDeleting(*group) || IsUsed(key)) continue;
    Json next = *group;
    Json& finalizers = next["metadata"]["finalizers"];
    const auto protection = std::find(finalizers.begin(), finalizers.end(), Json(kProtection));
    if (protection == finalizers.end()) continue;
    finalizers.erase(protection);
    server_.Handle(kube::ReplaceRequest(kube::kPodGroups, next, {}), user_);
    return true;
  }
  idle_at_ = server_.version();
  return false;
}

bool GroupProtection::IsUsed(const api::ObjectKey& group) const {
  const auto& pods = server_.All("pods");
  for (auto i = pods.lower_bound({group.space, ""}); i != pods.end(); ++i) {
    if (i->first.space != group.space) break;
    if (GroupOf(*i->second) == group.name && !HasEnded(*i->second)) return true;
  }
  return false;
}

}  // namespace weft::world
