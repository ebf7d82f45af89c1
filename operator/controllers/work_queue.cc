#include "operator/controllers/work_queue.h"

#include <algorithm>

#include "operator/base/seeded_bug.h"

namespace weft::controllers {
namespace {

// A refused object is refused again until it changes, and a change requeues its key at once. So its
// first retry waits longer than that of other failures.
constexpr WorkQueue::Duration kFirstRetryOfRefused = std::chrono::seconds(2);

// A failed key is not tried sooner, whatever changes: its object changes all the time while its
// pods do, and what failed because the API server is overloaded must not be tried with each of
// them.
constexpr WorkQueue::Duration kLeastPause = std::chrono::seconds(1);

// The longest chain of steps in the life of a gang has about twenty.
constexpr int kFreeSteps = 64;

}  // namespace

void WorkQueue::Add(const api::ObjectKey& key) { AddAfter(key, Duration::zero()); }

void WorkQueue::AddAfter(const api::ObjectKey& key, Duration delay) {
  const std::lock_guard lock(mutex_);
  const run::Instant time = options_.executor->Now() + delay;
  if (!busy_.contains(key)) return AddAt(key, time);
  const auto [again, fresh] = again_.emplace(key, time);
  if (!fresh) again->second = std::min(again->second, time);
}

void WorkQueue::AddAt(const api::ObjectKey& key, run::Instant time) {
  const auto rest = rest_.find(key);
  if (rest != rest_.end() && !Seeded(Bug::kHurriedByEvents)) time = std::max(time, rest->second);
  const auto [due, fresh] = due_.emplace(key, time);
  if (!fresh) {
    if (due->second <= time) return;
    by_time_.erase({due->second, key});
    due->second = time;
  }
  by_time_.insert({time, key});
  changed_->NotifyOne();
}

std::optional<api::ObjectKey> WorkQueue::Take() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    if (by_time_.empty()) {
      changed_->Wait(lock);
      continue;
    }
    const auto [time, key] = *by_time_.begin();
    if (time > options_.executor->Now()) {
      changed_->Wait(lock, time);
      continue;
    }
    by_time_.erase(by_time_.begin());
    due_.erase(key);
    rest_.erase(key);
    busy_.insert(key);
    return key;
  }
  return std::nullopt;
}

WorkQueue::Duration WorkQueue::Backoff(Duration first, int times) const {
  Duration delay = first;
  for (int i = 0; i < times && delay < options_.last_retry; ++i) delay *= 2;
  return std::min(delay, options_.last_retry);
}

void WorkQueue::Done(const api::ObjectKey& key, End end, Duration rest) {
  const bool failed = end != End::kWell && end != End::kNextStep;
  const std::lock_guard lock(mutex_);
  busy_.erase(key);
  if (failed) {
    const Duration first = end == End::kRefused ? kFirstRetryOfRefused : options_.first_retry;
    Duration delay = Backoff(first, failures_[key]++);
    if (Seeded(Bug::kRetryAtOnce)) delay = Duration::zero();
    if (end != End::kStale) rest = std::min(delay, kLeastPause);
    if (rest > Duration::zero()) rest_[key] = options_.executor->Now() + rest;
    AddAt(key, options_.executor->Now() + delay);
  } else if (end == End::kNextStep) {
    failures_.erase(key);
    const int over = Seeded(Bug::kStepsNeverSlow) ? 0 : ++steps_[key] - kFreeSteps;
    if (over > 0) rest_[key] = options_.executor->Now() + Backoff(options_.first_retry, over - 1);
    AddAt(key, options_.executor->Now());
  } else {
    failures_.erase(key);
    steps_.erase(key);
    if (rest > Duration::zero()) rest_[key] = options_.executor->Now() + rest;
  }
  if (const auto again = again_.find(key); again != again_.end()) {
    const run::Instant time = again->second;
    again_.erase(again);
    // After a failure the backoff is kept: the change may be the key's own write. A write that was
    // refused because the object had changed made none.
    if (!failed || end == End::kStale) AddAt(key, time);
  }
}

void WorkQueue::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_->NotifyAll();
}

std::size_t WorkQueue::depth() const {
  const std::lock_guard lock(mutex_);
  return due_.size() + busy_.size();
}

}  // namespace weft::controllers
