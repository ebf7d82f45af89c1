#include "operator/outlook/failures.h"

#include <gtest/gtest.h>

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

TEST(FailuresTest, WhereACheckpointTakesLongerThanTheTimeBetweenFailuresTheShareStaysAShare) {
  const Reliability hopeless = ReliabilityOf(1e6, {6.5, 3600, 600});
  EXPECT_GT(hopeless.effective_share, 0);
  EXPECT_LT(hopeless.effective_share, 0.1);
}

}  // namespace
}  // namespace weft::outlook
