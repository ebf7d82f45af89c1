#include "operator/run/executor.h"

#include <condition_variable>
#include <ctime>
#include <thread>
#include <utility>

namespace weft::run {
namespace {

constexpr WallMicros kMicrosPerSecond = 1'000'000;

class SystemThread final : public Thread {
 public:
  explicit SystemThread(std::function<void()> work) : thread_(std::move(work)) {}
  void Join() override { thread_.join(); }

 private:
  std::thread thread_;
};

class SystemCondition final : public Condition {
 public:
  using Condition::Condition;
  void NotifyOne() override { changed_.notify_one(); }
  void NotifyAll() override { changed_.notify_all(); }
  void Wait(std::unique_lock<std::mutex>& lock, Instant until) override {
    if (until == Instant::max()) return changed_.wait(lock);
    changed_.wait_until(lock, until);
  }

 private:
  std::condition_variable changed_;
};

class System final : public Executor {
 public:
  Instant Now() const override { return BootClock::now(); }
  WallMicros Wall() const override {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  }
  std::unique_ptr<Thread> Start(std::function<void()> work) override {
    return std::make_unique<SystemThread>(std::move(work));
  }
  std::unique_ptr<Condition> NewCondition() override {
    return std::make_unique<SystemCondition>(*this);
  }
};

}  // namespace

BootClock::time_point BootClock::now() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

UnixSeconds Clock::Seconds() const {
  const WallMicros micros = Wall();
  const WallMicros part = ((micros % kMicrosPerSecond) + kMicrosPerSecond) % kMicrosPerSecond;
  return (micros - part) / kMicrosPerSecond;
}

Executor& SystemExecutor() {
  static System system;
  return system;
}

}  // namespace weft::run
