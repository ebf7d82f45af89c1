#include "operator/controllers/pod_events.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/base/seeded_bug.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/pod_events.h"

namespace weft::controllers {
namespace {

// While another job's request is under way.
constexpr std::int64_t kBusySeconds = 1;

// The attempt's pods that wait without a word, in the order of their names.
std::vector<std::size_t> SilentPods(const watch::JobObjects& objects) {
  std::vector<std::size_t> silent;
  const api::TrainingJob& job = *objects.job;
  if (!cluster::HasCondition(job.conditions, "Placed")) return silent;
  if (cluster::HasCondition(job.conditions, "PodsReady")) return silent;
  for (std::size_t i = 0; i < objects.pods.size(); ++i) {
    const api::Pod& pod = *objects.pods[i];
    if (!life::WaitsInSilence(pod) || life::AttemptLabel(pod.meta) != job.attempt) continue;
    if (pod.meta.labels.At(cluster::kJobUidLabel) == job.meta.uid) silent.push_back(i);
  }
  std::sort(silent.begin(), silent.end(), [&](std::size_t a, std::size_t b) {
    return objects.pods[a]->meta.key < objects.pods[b]->meta.key;
  });
  return silent;
}

}  // namespace

// The mutex must be held.
bool PodEvents::Begin(Known& known, UnixSeconds now, std::int64_t& left) {
  if (known.since == 0 || known.since > now) known.since = now;
  if (known.asked > now) known.asked = 0;
  const std::int64_t pause = known.text.empty() ? kAskSeconds : kAskAgainSeconds;
  UnixSeconds due = std::max(known.since + kSilentSeconds, known.asked + pause);
  if (paused_until_ > now && paused_until_ - now <= kForbiddenPauseSeconds) {
    due = std::max(due, paused_until_);
  }
  left = due > now ? due - now : pause;
  if (due > now) return false;
  if (asking_) left = kBusySeconds;
  return !std::exchange(asking_, true);
}

std::optional<std::int64_t> PodEvents::AddTo(watch::JobObjects& objects) {
  if (Seeded(Bug::kEventsUnread)) return std::nullopt;
  const std::string& job = objects.job->meta.uid;
  const std::vector<std::size_t> silent = SilentPods(objects);
  if (silent.empty()) {
    Forget(job);
    return std::nullopt;
  }
  const auto of_uid = [&](const std::string& uid) {
    return std::find_if(silent.begin(), silent.end(),
                        [&](std::size_t i) { return objects.pods[i]->meta.uid == uid; });
  };
  std::int64_t left = 0;
  std::optional<api::ObjectMeta> chosen;
  {
    const std::lock_guard lock(mutex_);
    Known& known = known_[job];
    if (of_uid(known.uid) == silent.end()) known.uid = known.text = "";
    if (Begin(known, now_(), left)) {
      // The one with an answer again, else one after the other.
      auto next = of_uid(known.uid);
      if (next == silent.end()) {
        next = std::find_if(silent.begin(), silent.end(), [&](std::size_t i) {
          return known.last < objects.pods[i]->meta.key.name;
        });
      }
      chosen = objects.pods[next == silent.end() ? silent.front() : *next]->meta;
      known.asked = now_();
      known.last = chosen->key.name;
    }
  }
  if (chosen) Ask(job, *chosen);
  const std::lock_guard lock(mutex_);
  const Known& known = known_[job];
  if (const auto told = of_uid(known.uid); told != silent.end() && !known.text.empty()) {
    auto pod = std::make_shared<api::Pod>(*objects.pods[*told]);
    pod->waiting = known.text;
    objects.pods[*told] = std::move(pod);
  }
  return left;
}

void PodEvents::Ask(const std::string& job_uid, const api::ObjectMeta& pod) {
  const auto list = reader_.EventsOf(pod);
  const std::string text = list ? life::WaitOfEvents(*list) : "";
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    asking_ = false;
    if (list) {
      Known& known = known_[job_uid];
      known.uid = text.empty() ? "" : pod.uid;
      known.text = text;
      return;
    }
    const bool transient = list.error().kind == ErrorKind::kTransient;
    first = paused_until_ == 0;
    paused_until_ = now_() + (transient ? kUnansweredPauseSeconds : kForbiddenPauseSeconds);
  }
  if (first) {
    log_.Warning("events of pods cannot be read, so reasons that are only there are not told",
                 {{"pod", api::Show(pod.key)}, {"error", list.error().message}});
  }
}

void PodEvents::Forget(const std::string& job_uid) {
  const std::lock_guard lock(mutex_);
  known_.erase(job_uid);
}

}  // namespace weft::controllers
