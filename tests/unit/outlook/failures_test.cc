#include "operator/outlook/failures.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::outlook {
namespace {

TEST(FailuresTest, TheIntervalIsDalys) {
  const Reliability llama = ReliabilityOf(2048);  // 16,384 GPUs
  EXPECT_NEAR(llama.hours_between_failures, 3.09, 0.01);
  EXPECT_NEAR(llama.checkpoint_interval_seconds / 60, 18.6, 0.05);
  EXPECT_NEAR(llama.effective_share, 0.858, 0.001);
  const FailureRates rsc{6.50, 60, 600};
  EXPECT_NEAR(ReliabilityOf(128, rsc).hours_between_failures, 28.85, 0.01);
  EXPECT_NEAR(ReliabilityOf(128, rsc).checkpoint_interval_seconds / 60, 58.2, 0.05);
  EXPECT_NEAR(ReliabilityOf(2048, rsc).checkpoint_interval_seconds / 60, 14.0, 0.05);
}

TEST(FailuresTest, FastCheckpointsAndRestartsKeepATrainingGoing) {
  EXPECT_NEAR(ReliabilityOf(2048, {3.79, 10, 300}).effective_share, 0.934, 0.001);
  EXPECT_GT(ReliabilityOf(1).effective_share, 0.99);
}

TEST(FailuresTest, SpotNodesAreInterruptedBesideTheirFailures) {
  EXPECT_NEAR(ReliabilityOf(8, {}, 8).hours_between_failures, 24'000 / (8 * 103.79), 1e-6);
  EXPECT_NEAR(ReliabilityOf(8, {}, 2).hours_between_failures, 24'000 / (8 * 3.79 + 200), 1e-6);
  EXPECT_LT(ReliabilityOf(8, {}, 8).effective_share, 0.97);
  EXPECT_GT(ReliabilityOf(8).effective_share, 0.98);
  FailureRates never;
  never.interruptions_per_1000_node_days = 0;
  EXPECT_EQ(ReliabilityOf(8, never, 8).effective_share, ReliabilityOf(8).effective_share);
}

// 2,048 nodes with 3.79 failures in 1,000 node-days: a failure every 11,131 s. The shares were
// computed apart from this program; three of them (0.8540, 0.9331, 0.9770) were also simulated.
constexpr double kBetweenHours = 1000.0 * 24 / (2048 * 3.79);

double ShareAt(double interval, double stop, double restart) {
  return EffectiveShare(kBetweenHours, interval, {3.79, stop, restart});
}

TEST(FailuresTest, TheShareFollowsTheIntervalTheCheckpointAndTheRestart) {
  struct Case {
    const char* policy;
    double stop, restart, interval;
    bool daly;  // the interval is the one that loses least
    double share;
  };
  constexpr Case kCases[] = {
      {"whole gang again, synchronous checkpoint", 60, 600, 1116.1, true, 0.8575},
      {"whole gang again, a checkpoint stops 10 s", 10, 600, 465.2, true, 0.9104},
      {"the same, a restart in 5 minutes", 10, 300, 465.2, true, 0.9339},
      {"a spare, ranks kept, a restart in place", 10, 110, 465.2, true, 0.9493},
      {"the same, a checkpoint stops 1 s", 1, 110, 148.5, true, 0.9771},
      {"the same, to a peer's memory every 60 s", 0.5, 90, 60, false, 0.9811},
      {"the same, every step of 30 s", 0.2, 45, 30, false, 0.9880},
  };
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.policy);
    EXPECT_NEAR(ShareAt(one.interval, one.stop, one.restart), one.share, 5.1e-5);
    if (!one.daly) continue;
    const Reliability best = ReliabilityOf(2048, {3.79, one.stop, one.restart});
    EXPECT_NEAR(best.checkpoint_interval_seconds, one.interval, 0.05);
    EXPECT_NEAR(best.effective_share, one.share, 5.1e-5);
  }
  EXPECT_NEAR(ShareAt(1116.1, 60, 600), 0.8540, 0.004);
  EXPECT_NEAR(ShareAt(465.2, 10, 300), 0.9331, 0.001);
  EXPECT_NEAR(ShareAt(148.5, 1, 110), 0.9770, 0.001);
}

TEST(FailuresTest, AShareIsReachedByRestartsOfThisLengthAtMost) {
  struct Case {
    double share, stop, restart;  // a negative restart: by none
  };
  constexpr Case kCases[] = {{0.95, 10, 102}, {0.95, 1, 433},   {0.97, 1, 193},  {0.97, 10, -1},
                             {0.98, 1, 76},   {0.98, 0.2, 160}, {0.99, 0.2, 45}, {0.99, 1, -1}};
  const auto share = [](double stop, double restart) {
    return ReliabilityOf(2048, {3.79, stop, restart}).effective_share;
  };
  for (const Case& one : kCases) {
    SCOPED_TRACE(::testing::Message() << one.share << " with checkpoints of " << one.stop << " s");
    if (one.restart < 0) {
      EXPECT_LT(share(one.stop, 0), one.share);
      continue;
    }
    EXPECT_GE(share(one.stop, one.restart - 1), one.share);
    EXPECT_LT(share(one.stop, one.restart + 1), one.share);
  }
}

// Replicas that go on lose only their stall and the part of a replica until the lost one is back:
// as a restart of so many seconds without a checkpoint.
TEST(FailuresTest, ReplicasThatGoOnLoseTheirStallAndOneReplicasTime) {
  struct Case {
    double replicas, stall, replica_restart, share;
  };
  constexpr Case kCases[] = {
      {2, 30, 600, 0.9712}, {8, 30, 600, 0.9907}, {16, 30, 600, 0.9940}, {16, 180, 600, 0.9808}};
  for (const Case& one : kCases) {
    const double restart = one.stall + one.replica_restart / one.replicas;
    EXPECT_NEAR(ShareAt(1e-9, 0, restart), one.share, 5.1e-5) << one.replicas << " replicas";
  }
}

TEST(FailuresTest, AFastReplacementIsWorthManyNodesOfALargeJob) {
  struct Case {
    double nodes, saved_share, in_nodes;
  };
  constexpr Case kCases[] = {{2048, 0.0440, 90.15}, {128, 0.0028, 0.35}};
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.nodes);
    // Of what remains after the other losses: the interval's is the same with both restarts.
    const double between = 1000.0 * 24 * 3600 / (one.nodes * 3.79);
    const double saved = (600.0 - 110.0) / between;
    EXPECT_NEAR(saved, one.saved_share, 5.1e-5);
    EXPECT_NEAR(saved * one.nodes, one.in_nodes, 0.1);
    const double with = ReliabilityOf(one.nodes, {3.79, 10, 110}).effective_share;
    const double without = ReliabilityOf(one.nodes, {3.79, 10, 600}).effective_share;
    EXPECT_NEAR(1 / without - 1 / with, saved, 0.03 * saved);
  }
}

TEST(FailuresTest, AJobThatNeverFailsNeedsNoCheckpoint) {
  const Reliability never = ReliabilityAt(0);
  EXPECT_EQ(never.effective_share, 1);
  EXPECT_TRUE(std::isinf(never.checkpoint_interval_seconds));
  EXPECT_EQ(ReliabilityAt(2048 * 3.79).effective_share, ReliabilityOf(2048).effective_share);
}

TEST(FailuresTest, WhereACheckpointTakesLongerThanTheTimeBetweenFailuresTheShareStaysAShare) {
  const Reliability hopeless = ReliabilityOf(1e6, {6.5, 3600, 600});
  EXPECT_GT(hopeless.effective_share, 0);
  EXPECT_LT(hopeless.effective_share, 0.1);
}

}  // namespace
}  // namespace weft::outlook
