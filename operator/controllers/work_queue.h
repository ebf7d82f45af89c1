#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "operator/api/meta.h"
#include "operator/run/executor.h"

namespace weft::controllers {

// Keys to reconcile. A key is reconciled by one thread at a time; if it is added meanwhile, it is
// requeued afterwards. Failed keys are requeued with growing backoff, and a key can rest after a
// reconcile: changes during its rest are handled together at its end.
// Thread-safety  all calls may run at once.
class WorkQueue {
 public:
  using Duration = run::Instant::duration;
  struct Options {
    Duration first_retry = std::chrono::milliseconds(50);
    Duration last_retry = std::chrono::seconds(30);
    run::Executor* executor = &run::SystemExecutor();
  };
  explicit WorkQueue(Options options)
      : options_(options), changed_(options.executor->NewCondition()) {}
  WorkQueue() : WorkQueue(Options{}) {}

  void Add(const api::ObjectKey& key);
  // Reconciles the key after the delay, or earlier if an earlier time is set already.
  void AddAfter(const api::ObjectKey& key, Duration delay);
  // Waits for a key that is due; returns nothing after Close.
  std::optional<api::ObjectKey> Take();
  enum class End : std::uint8_t {
    kWell,      // resets the key's backoff
    kNextStep,  // requeues the key at once: one step of several is done. A chain of steps that does
                // not end gets growing pauses
    kFailed,    // requeues the key with growing backoff; changes of the key shorten it to a second
    kStale,     // like kFailed, but a change of the key ends the pause: what was read is outdated
    kRefused,   // like kFailed, with a longer first pause: its object must change first
  };
  // The key's reconcile has ended; the next one begins after `rest` at the earliest.
  void Done(const api::ObjectKey& key, End end, Duration rest = Duration::zero());
  void Close();
  std::size_t depth() const;

 private:
  void AddAt(const api::ObjectKey& key, run::Instant time);
  // Twice as long each time, up to options_.last_retry.
  Duration Backoff(Duration first, int times) const;

  const Options options_;
  mutable std::mutex mutex_;
  const std::unique_ptr<run::Condition> changed_;
  bool closed_ = false;
  std::map<api::ObjectKey, run::Instant> due_;
  std::set<std::pair<run::Instant, api::ObjectKey>> by_time_;
  std::set<api::ObjectKey> busy_;
  std::map<api::ObjectKey, run::Instant> again_;  // keys added during their reconcile
  std::map<api::ObjectKey, run::Instant> rest_;   // end of the key's rest, until it is taken
  std::map<api::ObjectKey, int> failures_;
  std::map<api::ObjectKey, int> steps_;  // kNextStep in a row
};

}  // namespace weft::controllers
