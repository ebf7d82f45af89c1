#include "operator/controllers/pod_events.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/base/seeded_bug.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/job_status.h"
#include "operator/life/stage.h"

namespace weft::controllers {
namespace {

// While another namespace's request is under way.
constexpr std::int64_t kBusySeconds = 2;
// A namespace that nobody has asked about for so long is forgotten.
constexpr std::int64_t kForgetSeconds = 600;

// The attempt's pods that wait without a word, once all are bound.
std::vector<std::size_t> SilentPods(const watch::JobObjects& objects) {
  std::vector<std::size_t> silent;
  const api::TrainingJob& job = *objects.job;
  if (life::StageOf(life::StatusOf(job)) != life::Stage::kStarting) return silent;
  for (std::size_t i = 0; i < objects.pods.size(); ++i) {
    const api::Pod& pod = *objects.pods[i];
    if (!life::WaitsInSilence(pod) || life::AttemptLabel(pod.meta) != job.attempt) continue;
    if (pod.meta.labels.At(cluster::kJobUidLabel) == job.meta.uid) silent.push_back(i);
  }
  return silent;
}

}  // namespace

// The mutex must be held, as for all that follows.
PodEvents::Silent PodEvents::Look(const watch::JobObjects& objects) {
  Silent silent = SilentPods(objects);
  const std::string& job = objects.job->meta.uid;
  if (silent.empty()) {
    since_.erase(job);
    return silent;
  }
  const UnixSeconds now = now_();
  Silence& silence = since_.try_emplace(job, Silence{.since = now, .changed = now}).first->second;
  silence.since = std::min(silence.since, now);
  silence.changed = std::min(silence.changed, now);
  const std::size_t with_sandbox = static_cast<std::size_t>(std::count_if(
      silent.begin(), silent.end(), [&](std::size_t i) { return objects.pods[i]->has_sandbox; }));
  if (silent.size() > silence.waiting || with_sandbox > silence.with_sandbox) silence.changed = now;
  silence.waiting = silent.size();
  silence.with_sandbox = with_sandbox;
  std::erase_if(spaces_, [&](const auto& one) { return now - one.second.used > kForgetSeconds; });
  Space& space = spaces_[objects.job->meta.key.space];
  space.used = now;
  // A clock that was put back.
  if (space.asked > now) space.asked = 0;
  if (space.not_before - now > kForbiddenPauseSeconds) space.not_before = 0;
  return silent;
}

UnixSeconds PodEvents::Due(const watch::JobObjects& objects, const Silent& silent) {
  const Space& space = spaces_.at(objects.job->meta.key.space);
  const Silence& silence = since_.at(objects.job->meta.uid);
  const bool told = std::all_of(silent.begin(), silent.end(), [&](std::size_t i) {
    const auto wait = space.told.find(objects.pods[i]->meta.uid);
    return wait != space.told.end() && wait->second.IsOf(*objects.pods[i]);
  });
  const bool seldom = told || now_() - silence.changed >= kLongSilentSeconds;
  const UnixSeconds next = space.asked + (seldom ? kAskSeldomSeconds : kAskSeconds);
  return std::max({silence.since + kSilentSeconds, space.not_before, space.asked == 0 ? 0 : next});
}

bool PodEvents::AskFor(const watch::JobObjects& objects) {
  if (Seeded(Bug::kEventsUnread)) return false;
  {
    const std::lock_guard lock(mutex_);
    const Silent silent = Look(objects);
    if (silent.empty() || asking_ || Due(objects, silent) > now_()) return false;
    asking_ = true;
  }
  Ask(objects.job->meta.key.space);
  return true;
}

// The mutex must not be held.
void PodEvents::Ask(const std::string& space) {
  struct Done {
    PodEvents& events;
    ~Done() {
      const std::lock_guard lock(events.mutex_);
      events.asking_ = false;
    }
  };
  const Done done{*this};
  const UnixSeconds began = now_();
  const Result<nlohmann::json> warnings = reader_.WarningsIn(space);
  const Result<nlohmann::json> pulls = warnings ? reader_.PullsIn(space) : warnings;
  const Result<nlohmann::json>& answer = warnings ? pulls : warnings;
  const std::lock_guard lock(mutex_);
  if (answer) spaces_[space].told = life::WaitsOfEvents(*warnings, *pulls);
  Take(spaces_[space], answer, began);
  if (answer || answer.error().kind == ErrorKind::kTransient) return;
  if (std::exchange(spaces_[space].refused, true)) return;
  log_.Warning("events of pods cannot be read, so reasons that are only there are not told",
               {{"namespace", space}, {"error", answer.error().message}});
}

void PodEvents::Take(Space& space, const Result<nlohmann::json>& answer, UnixSeconds began) {
  // Two moments that differ by a second may be close.
  const UnixSeconds now = now_(), took = std::max<UnixSeconds>(0, now - began - 1);
  space.asked = space.used = now;
  std::int64_t pause = std::min(took * kPauseForEachSecond, kForbiddenPauseSeconds);
  if (!answer) {
    const bool transient = answer.error().kind == ErrorKind::kTransient;
    pause = std::max(pause, transient ? kUnansweredPauseSeconds : kForbiddenPauseSeconds);
  }
  space.not_before = now + pause;
}

std::optional<std::int64_t> PodEvents::AddTo(watch::JobObjects& objects) {
  if (Seeded(Bug::kEventsUnread)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const Silent silent = Look(objects);
  if (silent.empty()) return std::nullopt;
  const Space& space = spaces_.at(objects.job->meta.key.space);
  for (const std::size_t i : silent) {
    const auto told = space.told.find(objects.pods[i]->meta.uid);
    if (told == space.told.end() || !told->second.IsOf(*objects.pods[i])) continue;
    auto pod = std::make_shared<api::Pod>(*objects.pods[i]);
    pod->waiting = told->second.text;
    objects.pods[i] = std::move(pod);
  }
  const std::int64_t left = Due(objects, silent) - now_();
  return left > 0 ? left : kBusySeconds;
}

void PodEvents::Forget(const std::string& job_uid) {
  const std::lock_guard lock(mutex_);
  since_.erase(job_uid);
}

}  // namespace weft::controllers
