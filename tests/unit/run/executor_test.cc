#include "operator/run/executor.h"

#include <gtest/gtest.h>

#include <atomic>

namespace weft::run {
namespace {

TEST(BootClock, NeverGoesBack) {
  const Instant first = BootClock::now();
  EXPECT_GE(BootClock::now(), first);
}

TEST(Clock, RoundsSecondsDownBefore1970Too) {
  class Fixed final : public Clock {
   public:
    explicit Fixed(WallMicros wall) : wall_(wall) {}
    Instant Now() const override { return {}; }
    WallMicros Wall() const override { return wall_; }

   private:
    const WallMicros wall_;
  };
  EXPECT_EQ(Fixed(1'999'999).Seconds(), 1);
  EXPECT_EQ(Fixed(-1).Seconds(), -1);
}

TEST(SystemExecutor, JoinsWhatItStarted) {
  std::atomic<bool> ran{false};
  const auto thread = SystemExecutor().Start([&] { ran = true; });
  thread->Join();
  EXPECT_TRUE(ran);
}

TEST(Condition, WakesAThreadThatWaits) {
  std::mutex mutex;
  bool open = false;
  const auto changed = SystemExecutor().NewCondition();
  const auto opener = SystemExecutor().Start([&] {
    const std::lock_guard lock(mutex);
    open = true;
    changed->NotifyAll();
  });
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed->WaitFor(lock, std::chrono::hours(1), [&] { return open; }));
  lock.unlock();
  opener->Join();
}

TEST(Condition, GivesUpAfterTheTime) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  const auto changed = SystemExecutor().NewCondition();
  EXPECT_FALSE(changed->WaitFor(lock, std::chrono::milliseconds(1), [] { return false; }));
}

}  // namespace
}  // namespace weft::run
