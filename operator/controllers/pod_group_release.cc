#include "operator/controllers/pod_group_release.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "operator/api/names.h"
#include "operator/base/seeded_bug.h"

namespace weft::controllers {

namespace {

bool IsOfPlacement(const api::PodGroup& group) {
  const std::string ours = std::string(api::kGroup) + "/";
  const auto& owners = group.meta.owners;
  return std::any_of(owners.begin(), owners.end(), [&](const api::OwnerReference& owner) {
    return owner.kind == "Placement" && owner.api_version.starts_with(ours);
  });
}

// Whether it is of an attempt, and deleted but for the finalizer.
bool IsLeftOver(const api::PodGroup& group) {
  const auto& finalizers = group.meta.finalizers;
  return group.meta.deleting && IsOfPlacement(group) &&
         std::find(finalizers.begin(), finalizers.end(), api::kPodGroupFinalizer) !=
             finalizers.end();
}

}  // namespace

std::int64_t PodGroupRelease::LeftOf(const api::PodGroup& group) {
  const bool used = store_.HasRunningPodIn(group.meta.key);
  const UnixSeconds now = now_();
  const std::lock_guard lock(mutex_);
  Unused& unused = unused_[group.meta.key];
  if (used || unused.uid != group.meta.uid || unused.since > now) unused = {group.meta.uid, now};
  return unused.since + kGroupGoneWithinSeconds - now;
}

Result<Outcome> PodGroupRelease::Reconcile(const api::ObjectKey& key) {
  const auto group = store_.At<api::PodGroup>(key);
  if (!group || !IsLeftOver(*group) || Seeded(Bug::kGroupOutlastsAll)) {
    const std::lock_guard lock(mutex_);
    unused_.erase(key);
    return Outcome{};
  }
  if (const std::int64_t left = LeftOf(*group); left > 0) {
    return Outcome{.waits = true, .seconds = left};
  }
  std::vector<std::string> others = group->meta.finalizers;
  std::erase(others, api::kPodGroupFinalizer);
  const auto stored =
      writer_.Patch({Kind::kPodGroup, key, group->meta.uid, group->meta.resource_version},
                    {{"metadata", {{"finalizers", others}}}});
  if (!stored && stored.error().kind == ErrorKind::kNotFound) return Outcome{};
  if (!stored) return stored.error();
  log_.Warning("released a PodGroup that kube-controller-manager did not release",
               {{"podGroup", api::Show(key)},
                {"why", "it lacks the feature gate GenericWorkload, or does not run"}});
  return Outcome{};
}

}  // namespace weft::controllers
