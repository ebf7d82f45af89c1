#include "operator/controllers/wakeup.h"

#include <gtest/gtest.h>

#include <thread>

namespace weft::controllers {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kNone{0}, kShort{20}, kForever{600'000};

TEST(WakeupTest, TheFirstPassNeedsNoChangeAndTheNextOneDoes) {
  Wakeup wakeup(run::SystemExecutor());
  EXPECT_TRUE(wakeup.Await(kNone));
  const auto start = steady_clock::now();
  EXPECT_TRUE(wakeup.Await(kNone, kShort));
  EXPECT_GE(steady_clock::now() - start, kShort);
}

TEST(WakeupTest, AChangeDuringAPassOrAPauseIsNotLost) {
  Wakeup wakeup(run::SystemExecutor());
  EXPECT_TRUE(wakeup.Await(kNone));
  wakeup.Ring();
  const auto start = steady_clock::now();
  EXPECT_TRUE(wakeup.Await(kShort, kForever));
  EXPECT_GE(steady_clock::now() - start, kShort);
}

TEST(WakeupTest, AChangeWakesTheThreadThatWaits) {
  Wakeup wakeup(run::SystemExecutor());
  EXPECT_TRUE(wakeup.Await(kNone));
  std::thread rings([&] { wakeup.Ring(); });
  EXPECT_TRUE(wakeup.Await(kNone));
  rings.join();
}

TEST(WakeupTest, StopEndsAPauseAndEveryLaterCall) {
  Wakeup wakeup(run::SystemExecutor());
  std::thread stops([&] { wakeup.Stop(); });
  EXPECT_FALSE(wakeup.Await(kForever));
  EXPECT_FALSE(wakeup.Await(kForever));
  stops.join();
}

}  // namespace
}  // namespace weft::controllers
