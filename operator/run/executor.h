#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "operator/run/clock.h"

namespace weft::run {

// A running thread. Precondition of its destruction: it was joined.
class Thread {
 public:
  virtual ~Thread() = default;
  // Returns when its function has returned.
  virtual void Join() = 0;
};

// What threads wait for, as std::condition_variable. Waits may end early.
// Thread-safety  all calls may run at once.
class Condition {
 public:
  explicit Condition(const Clock& clock) : clock_(clock) {}
  virtual ~Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  virtual void NotifyOne() = 0;
  virtual void NotifyAll() = 0;
  // `lock` must be held. Instant::max(): until it is notified.
  virtual void Wait(std::unique_lock<std::mutex>& lock, Instant until) = 0;
  void Wait(std::unique_lock<std::mutex>& lock) { Wait(lock, Instant::max()); }
  // Waits until `done`, at most for that time; returns the last answer of `done`.
  template <typename Done>
  bool WaitFor(std::unique_lock<std::mutex>& lock, Instant::duration most, const Done& done) {
    const Instant end = clock_.Now() + most;
    while (!done()) {
      if (clock_.Now() >= end) return false;
      Wait(lock, end);
    }
    return true;
  }

 private:
  const Clock& clock_;
};

// The one door to time and threads: whatever waits or runs beside something else gets its clock,
// threads and conditions from here, so that a test can play a whole process in one thread, at its
// own pace and always in the same order (tests/world).
// Thread-safety  all calls may run at once.
class Executor : public Clock {
 public:
  virtual std::unique_ptr<Thread> Start(std::function<void()> work) = 0;
  virtual std::unique_ptr<Condition> NewCondition() = 0;
};

// The machine's clock and real threads.
Executor& SystemExecutor();

}  // namespace weft::run
