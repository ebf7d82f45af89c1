#include "operator/controllers/pod_groups.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/decode.h"
#include "operator/api/pod_group.h"
#include "operator/controllers/create_or_read.h"
#include "operator/launch/pod_group.h"
#include "operator/life/attempt_labels.h"

namespace weft::controllers {

namespace {

using Json = nlohmann::json;

// After so many attempts whose pods were refused, the next one goes without a group.
constexpr int kRefusedAtMost = 2;

// The reason of a group that kube-scheduler cannot judge (api/decode_pod_group.cc).
constexpr const char* kSchedulerError = "SchedulerError: ";

bool IsOwnedBy(const api::PodGroup& group, const std::string& placement_uid) {
  const auto& owners = group.meta.owners;
  return std::any_of(owners.begin(), owners.end(),
                     [&](const api::OwnerReference& owner) { return owner.uid == placement_uid; });
}

bool IsOfAttempt(const api::PodGroup& group, const life::JobView& view) {
  return std::any_of(view.placements.begin(), view.placements.end(), [&](const auto* placement) {
    return life::AttemptLabel(placement->meta) == view.job->attempt &&
           IsOwnedBy(group, placement->meta.uid);
  });
}

}  // namespace

std::optional<std::string> PodGroups::WhyNot(const api::TrainingJob& job) {
  if (!options_.enabled || !launch::MayJoinPodGroup(job)) return "";
  if (!store_.IsListed<api::PodGroup>()) return "";
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(job.meta.uid);
  if (known == known_.end()) return std::nullopt;
  const std::int64_t left = known->second.until - options_.now();
  const bool pinned = left > 0 && left <= kPinnedOnlySeconds;
  return pinned ? std::optional(known->second.why) : std::nullopt;
}

void PodGroups::Tell(const api::ObjectMeta& job, const std::string& why) {
  recorder_.Record({"TrainingJob", &job, true, "PodGroupsUnused", "CreatePods",
                    "kube-scheduler binds the workers one by one, not as a PodGroup: " + why});
}

void PodGroups::Pin(const api::ObjectMeta& job, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    Known& known = known_[job.uid];
    if (known.why == why && options_.now() < known.until) return;
    known.why = why;
    known.until = options_.now() + kPinnedOnlySeconds;
  }
  Tell(job, why);
}

bool PodGroups::HasFailedLong(const std::string& job_uid, bool fails) {
  const std::lock_guard lock(mutex_);
  const UnixSeconds now = options_.now();
  if (!fails) {
    if (const auto known = known_.find(job_uid); known != known_.end()) known->second.failing = 0;
    return false;
  }
  UnixSeconds& failing = known_[job_uid].failing;
  if (failing == 0 || failing > now) failing = now;
  return now - failing >= kGroupMadeWithinSeconds;
}

Result<std::string> PodGroups::Make(const launch::Gang& gang) {
  const api::ObjectMeta& job = gang.job->meta;
  const Result<Named> stored = CreateOrRead(writer_, Kind::kPodGroup, launch::MakePodGroup(gang));
  const bool answered = stored || stored.error().kind == ErrorKind::kInvalid ||
                        stored.error().kind == ErrorKind::kNotFound;
  const bool given_up = HasFailedLong(job.uid, !answered);
  if (!answered && !given_up) return stored.error();
  if (!stored) {
    Tell(job, stored.error().message);
    return std::string();
  }
  auto group = api::DecodePodGroup(stored->object, "PodGroup");
  if (!group) return group.error();
  if (!stored->taken.empty() || group->meta.deleting) {
    const std::string deleting = "PodGroup " + api::Show(group->meta.key) + " is being deleted";
    Tell(job, stored->taken.empty() ? deleting : stored->taken);
    return std::string();
  }
  std::string name = group->meta.key.name;
  store_.Put(*std::move(group));
  return name;
}

void PodGroups::OnPodWithoutGroup(const api::ObjectMeta& job) {
  Pin(job,
      "kube-apiserver took schedulingGroup off a pod, so it lacks the feature gate "
      "GenericWorkload");
}

void PodGroups::OnPodRefused(const api::ObjectMeta& job, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    const bool named = why.find("schedulingGroup") != why.npos;
    if (++known_[job.uid].refused < kRefusedAtMost && !named) return;
  }
  Pin(job, "pods in a PodGroup were refused: " + why);
}

// The watch of PodGroups may be behind that of pods.
bool PodGroups::IsUndecided(const api::ObjectKey& group) {
  const auto stored = writer_.Get({Kind::kPodGroup, group, "", ""});
  if (!stored) return false;
  auto decoded = api::DecodePodGroup(*stored, "PodGroup");
  if (!decoded) return false;
  const bool decided = decoded->decided;
  store_.Put(*std::move(decoded));
  return !decided;
}

// All pods of the attempt are bound, and nothing was decided about their group.
std::optional<std::int64_t> PodGroups::LookAtBound(const life::JobView& view) {
  const api::PodGroup& group = *view.group.group;
  {
    const std::lock_guard lock(mutex_);
    Known& known = known_[view.job->meta.uid];
    if (known.until > view.now) return std::nullopt;
    if (known.bound_group != group.meta.uid || known.bound_since > view.now) {
      known.bound_group = group.meta.uid;
      known.bound_since = view.now;
    }
    const std::int64_t left = known.bound_since + kGroupDecidedWithinSeconds - view.now;
    if (left > 0) return left;
  }
  if (!IsUndecided(group.meta.key)) return std::nullopt;
  Pin(view.job->meta,
      "kube-scheduler bound the pods of PodGroup " + group.meta.key.name +
          " without a decision about it, so it lacks the feature gate GenericWorkload");
  return std::nullopt;
}

std::optional<std::int64_t> PodGroups::LookAt(const life::JobView& view) {
  const api::PodGroup* group = view.group.group;
  if (group == nullptr || view.pods.empty() || !IsOfAttempt(*group, view)) return std::nullopt;
  if (group->message.starts_with(kSchedulerError)) {
    Pin(view.job->meta,
        "of PodGroup " + group->meta.key.name + " kube-scheduler says: " + group->message);
  }
  if (group->decided) return std::nullopt;
  const bool bound = std::all_of(view.pods.begin(), view.pods.end(), [&](const api::Pod* pod) {
    return !pod->node_name.empty() && pod->pod_group == group->meta.key.name;
  });
  return bound ? LookAtBound(view) : std::nullopt;
}

void PodGroups::Forget(const std::string& job_uid) {
  const std::lock_guard lock(mutex_);
  known_.erase(job_uid);
}

}  // namespace weft::controllers
