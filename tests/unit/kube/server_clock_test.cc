#include "operator/kube/server_clock.h"

#include <gtest/gtest.h>

namespace weft::kube {
namespace {

class FakeClock : public run::Clock {
 public:
  run::Instant Now() const override { return now; }
  run::WallMicros Wall() const override { return wall_seconds * 1'000'000; }
  // Time passes.
  void Pass(std::int64_t seconds) {
    now += std::chrono::seconds(seconds);
    wall_seconds += seconds;
  }
  run::Instant now{std::chrono::hours(1)};
  UnixSeconds wall_seconds = 1'000'000;
};

TEST(ServerClockTest, IsTheMachinesUntilTheServerIsHeard) {
  FakeClock machine;
  const ServerClock clock(machine);
  EXPECT_EQ(clock.Seconds(), 1'000'000);
  machine.wall_seconds += 3'600;
  EXPECT_EQ(clock.Seconds(), 1'003'600);
}

TEST(ServerClockTest, FollowsTheServerWhateverTheMachineSays) {
  FakeClock machine;
  ServerClock clock(machine);
  clock.Hear(2'000'000);
  EXPECT_EQ(clock.Seconds(), 2'000'000);
  EXPECT_EQ(clock.MachineIsAhead(), -1'000'000);
  machine.Pass(10);
  EXPECT_EQ(clock.Seconds(), 2'000'010);
  machine.wall_seconds -= 7'200;
  EXPECT_EQ(clock.Seconds(), 2'000'010);
  clock.Hear(2'000'500);
  clock.Hear(2'000'500);
  EXPECT_EQ(clock.Seconds(), 2'000'500);
}

// Several servers behind one address.
TEST(ServerClockTest, OneServerThatIsWrongIsNotBelieved) {
  FakeClock machine;
  ServerClock clock(machine);
  for (int i = 0; i < 10; ++i) {
    clock.Hear(2'000'000 + 4 * i);
    machine.Pass(2);
    clock.Hear(2'003'600 + 4 * i);
    machine.Pass(2);
  }
  clock.Keep();
  EXPECT_EQ(clock.Seconds(), 2'000'040);
}

// Dates have whole seconds, and answers take their time.
TEST(ServerClockTest, DoesNotWaverByASecond) {
  FakeClock machine;
  ServerClock clock(machine);
  clock.Hear(2'000'000);
  for (const UnixSeconds heard : {2'000'001, 1'999'999, 2'000'000}) {
    clock.Hear(heard);
    EXPECT_EQ(clock.Seconds(), 2'000'000);
  }
}

TEST(ServerClockTest, CountsOnFromTheElection) {
  FakeClock machine;
  ServerClock clock(machine);
  clock.Hear(2'000'000);
  clock.Keep();
  machine.Pass(60);
  machine.wall_seconds += 3'600;
  clock.Hear(2'009'999);  // another server, whose clock is wrong
  EXPECT_EQ(clock.Seconds(), 2'000'060);
}

// A machine that was paused, or a server's clock that was set: a deadline ends at most a tenth
// early, and in the end the clocks agree.
TEST(ServerClockTest, ALeaderGoesSlowlyTowardsWhatTheServerSays) {
  FakeClock machine;
  ServerClock clock(machine);
  clock.Hear(2'000'000);
  clock.Keep();
  std::int64_t passed = 0;
  const auto hear = [&](std::int64_t seconds) {
    for (; seconds > 0; seconds -= 2, passed += 2) {
      machine.Pass(2);
      clock.Hear(2'000'600 + passed + 2);
    }
  };
  hear(1'000);
  EXPECT_NEAR(static_cast<double>(clock.Seconds() - 2'000'000), 1'100, 3);
  hear(5'200);
  EXPECT_NEAR(static_cast<double>(clock.Seconds() - 2'000'000), 6'800, 3);
}

TEST(ServerClockTest, WithoutADateAJumpAfterTheElectionDoesNotCount) {
  FakeClock machine;
  ServerClock clock(machine);
  machine.Pass(5);
  clock.Keep();
  machine.wall_seconds += 3'600;
  machine.now += std::chrono::seconds(2);
  EXPECT_EQ(clock.Seconds(), 1'000'007);
}

}  // namespace
}  // namespace weft::kube
