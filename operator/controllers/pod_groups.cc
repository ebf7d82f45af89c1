#include "operator/controllers/pod_groups.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/decode.h"
#include "operator/api/names.h"
#include "operator/api/pod_group.h"
#include "operator/base/seeded_bug.h"
#include "operator/controllers/create_or_read.h"
#include "operator/launch/pod_group.h"

namespace weft::controllers {

namespace {

using Json = nlohmann::json;

constexpr const char* kUnused = "PodGroupsUnused";

bool IsOfPlacement(const api::PodGroup& group) {
  const auto& owners = group.meta.owners;
  return std::any_of(owners.begin(), owners.end(), [](const api::OwnerReference& owner) {
    return owner.kind == "Placement" &&
           owner.api_version.starts_with(std::string(api::kGroup) + "/");
  });
}

// Whether it is of an attempt, and deleted but for the finalizer that kube-controller-manager takes
// off.
bool IsLeftOver(const api::PodGroup& group) {
  const auto& finalizers = group.meta.finalizers;
  return group.meta.deleting && IsOfPlacement(group) &&
         std::find(finalizers.begin(), finalizers.end(), api::kPodGroupFinalizer) !=
             finalizers.end();
}

}  // namespace

bool PodGroups::Wanted(const api::TrainingJob& job) {
  if (!options_.enabled || !launch::MayJoinPodGroup(job)) return false;
  if (!store_.IsListed<api::PodGroup>()) return false;
  std::string why;
  {
    const std::lock_guard lock(mutex_);
    const auto error = in_error_.find(job.meta.uid);
    const bool lacks = options_.now() < pinned_only_until_;
    if (!lacks && error == in_error_.end()) return true;
    why = lacks ? lacking_ : "of an earlier attempt kube-scheduler said: " + error->second;
  }
  Tell(job.meta, why);
  return false;
}

Result<std::string> PodGroups::Make(const launch::Gang& gang) {
  const Json made = launch::MakePodGroup(gang);
  const Result<Json> stored = CreateOrRead(writer_, Kind::kPodGroup, made);
  if (!stored) {
    const ErrorKind kind = stored.error().kind;
    if (kind != ErrorKind::kInvalid && kind != ErrorKind::kNotFound) return stored.error();
    Tell(gang.job->meta, stored.error().message);
    return std::string();
  }
  auto group = api::DecodePodGroup(*stored, "PodGroup");
  if (!group) return group.error();
  const auto& owners = group->meta.owners;
  const bool ours = !owners.empty() && owners.front().uid == gang.placement_uid;
  if (!ours || group->meta.deleting) {
    Tell(gang.job->meta, "PodGroup " + api::Show(group->meta.key) +
                             (ours ? " is being deleted" : " already exists with another owner"));
    return std::string();
  }
  std::string name = group->meta.key.name;
  store_.Put(*std::move(group));
  return name;
}

void PodGroups::Tell(const api::ObjectMeta& job, const std::string& why) {
  recorder_.Record({"TrainingJob", &job, true, kUnused, "CreatePods",
                    "the pods are tied to their nodes without a PodGroup, so kube-scheduler binds "
                    "them one by one: " +
                        why});
}

void PodGroups::Lacks(const char* server, const std::string& evidence, const api::ObjectMeta* job) {
  std::string why = std::string(server) +
                    " lacks the feature gate GenericWorkload, as it seems: " + evidence +
                    "; enable it in kube-apiserver, kube-scheduler and kube-controller-manager, "
                    "or set podGroups.enabled: false";
  {
    const std::lock_guard lock(mutex_);
    if (options_.now() < pinned_only_until_) return;
    pinned_only_until_ = options_.now() + kPinnedOnlySeconds;
    lacking_ = why;
  }
  log_.Warning("no PodGroups for an hour", {{"reason", why}});
  if (job != nullptr) Tell(*job, why);
}

void PodGroups::OnPodWithoutGroup(const api::ObjectMeta& job) {
  Lacks("kube-apiserver", "it drops schedulingGroup from pods", &job);
}

// The watch may be behind that of pods.
bool PodGroups::IsUndecided(const api::ObjectKey& group) {
  const auto stored = writer_.Get({Kind::kPodGroup, group, "", ""});
  if (!stored) return false;
  auto decoded = api::DecodePodGroup(*stored, "PodGroup");
  if (!decoded) return false;
  const bool decided = decoded->decided;
  store_.Put(*std::move(decoded));
  return !decided;
}

bool PodGroups::IsPinnedOnly() {
  const std::lock_guard lock(mutex_);
  return options_.now() < pinned_only_until_;
}

std::optional<std::int64_t> PodGroups::LookAt(const life::JobView& view) {
  const api::PodGroup* group = view.group.group;
  if (group == nullptr || view.pods.empty()) return std::nullopt;
  const auto all = [&](auto is) { return std::all_of(view.pods.begin(), view.pods.end(), is); };
  const bool bound = all([&](const api::Pod* pod) {
    return !pod->node_name.empty() && pod->pod_group == group->meta.key.name;
  });
  const std::int64_t age = view.now - view.created;
  if (bound && !group->decided && age < kLookedAtSeconds && !IsPinnedOnly()) {
    if (age < kGroupDecidedWithinSeconds) return kGroupDecidedWithinSeconds - age;
    if (IsUndecided(group->meta.key)) {
      Lacks("kube-scheduler", "it bound pods of a PodGroup without deciding about the group",
            &view.job->meta);
    }
  }
  // Of pods that are refused, kube-scheduler tells each; of a group in error, the group alone.
  const bool untold =
      all([](const api::Pod* pod) { return pod->node_name.empty() && pod->unscheduled.empty(); });
  if (!untold || group->message.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  in_error_[view.job->meta.uid] = group->message;
  return std::nullopt;
}

void PodGroups::Forget(const std::string& job_uid) {
  const std::lock_guard lock(mutex_);
  in_error_.erase(job_uid);
}

std::int64_t PodGroups::LeftOf(const api::PodGroup& group) {
  const bool used = store_.HasRunningPodIn(group.meta.key);
  const UnixSeconds now = options_.now();
  const std::lock_guard lock(mutex_);
  Unused& unused = unused_[group.meta.key];
  if (used || unused.uid != group.meta.uid || unused.since > now) unused = {group.meta.uid, now};
  return unused.since + kGroupGoneWithinSeconds - now;
}

Result<Outcome> PodGroups::Reconcile(const api::ObjectKey& key) {
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
  if (!stored && stored.error().kind != ErrorKind::kNotFound) return stored.error();
  Lacks("kube-controller-manager", "a deleted PodGroup without pods stayed", nullptr);
  return Outcome{};
}

}  // namespace weft::controllers
