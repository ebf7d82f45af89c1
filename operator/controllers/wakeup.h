#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "operator/run/executor.h"

namespace weft::controllers {

// Wakes a thread that makes passes over everything of its kind when something has changed, with
// pauses between the passes. The first pass needs no call of Ring.
// Thread-safety  all calls may run at once; one thread awaits.
class Wakeup {
 public:
  using Milliseconds = std::chrono::milliseconds;

  explicit Wakeup(run::Executor& executor) : changed_(executor.NewCondition()) {}

  // Something has changed.
  void Ring();
  // Ends the present and every later Await.
  void Stop();
  // Sleeps for `pause`, then until Ring has been called since the last return, or for `patience`
  // at most. Returns false after Stop.
  bool Await(Milliseconds pause, std::optional<Milliseconds> patience = std::nullopt);

 private:
  std::mutex mutex_;
  const std::unique_ptr<run::Condition> changed_;
  bool stopped_ = false;
  bool rung_ = true;
};

}  // namespace weft::controllers
