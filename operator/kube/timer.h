#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

namespace weft::kube {

// A clock that never goes back and also counts the time while the machine sleeps.
struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
  static time_point now();
};
using Instant = BootClock::time_point;
using Millis = std::chrono::milliseconds;
// Microseconds since 1970, for times that are written into objects and never compared.
using WallMicros = std::int64_t;

// The time in the format of the API's MicroTime: "2026-08-22T10:00:00.000042Z".
std::string FormatMicroTime(WallMicros time);

// The clock and the waits of this module's threads; tests use their own Timer.
// Thread-safety  all calls may run at once.
class Timer {
 public:
  virtual ~Timer() = default;
  virtual Instant Now() const = 0;
  virtual WallMicros Wall() const = 0;
  // Waits; returns false at once after End.
  virtual bool Wait(Millis time) = 0;
  // Ends all waits, now and later.
  virtual void End() = 0;
};

class SystemTimer : public Timer {
 public:
  Instant Now() const override { return BootClock::now(); }
  WallMicros Wall() const override;
  bool Wait(Millis time) override;
  void End() override;

 private:
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
};

}  // namespace weft::kube
