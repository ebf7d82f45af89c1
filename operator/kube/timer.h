#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "operator/run/executor.h"

namespace weft::kube {

using run::BootClock;
using run::Instant;
using run::Millis;
using run::WallMicros;

// The time in the format of the API's MicroTime: "2026-08-22T10:00:00.000042Z".
std::string FormatMicroTime(WallMicros time);

// The clock and the waits of this module's threads; tests use their own Timer.
// Thread-safety  all calls may run at once.
class Timer : public run::Clock {
 public:
  // Waits; returns false at once after End.
  virtual bool Wait(Millis time) = 0;
  // Ends all waits, now and later.
  virtual void End() = 0;
};

class SystemTimer : public Timer {
 public:
  explicit SystemTimer(run::Executor& executor = run::SystemExecutor())
      : executor_(executor), ended_changed_(executor.NewCondition()) {}
  Instant Now() const override { return executor_.Now(); }
  WallMicros Wall() const override { return executor_.Wall(); }
  bool Wait(Millis time) override;
  void End() override;

 private:
  run::Executor& executor_;
  std::mutex mutex_;
  const std::unique_ptr<run::Condition> ended_changed_;
  bool ended_ = false;
};

}  // namespace weft::kube
