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
  EXPECT_EQ(clock.Seconds(), 2'000'500);
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
