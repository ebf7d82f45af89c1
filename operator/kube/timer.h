#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

namespace weft::kube {

// A moment of a clock that never goes back and also counts the time a machine sleeps.
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
// Microseconds since 1970, for what is written into objects and never compared.
using WallMicros = std::int64_t;

// "2026-08-22T10:00:00.000042Z", as the API's MicroTime is written.
std::string FormatMicroTime(WallMicros time);

// Time as a thread of this module sees it; tests own theirs.
// Thread-safety  all calls may run at once.
class Timer {
 public:
  virtual ~Timer() = default;
  virtual Instant Now() const = 0;
  virtual WallMicros Wall() const = 0;
  // False once ended, then at once.
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
