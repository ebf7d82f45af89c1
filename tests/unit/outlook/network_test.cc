#include "operator/outlook/network.h"

#include <gtest/gtest.h>

#include "operator/outlook/machines.h"
#include "tests/support/layouts.h"

namespace weft::outlook {
namespace {

using traffic::Axis;

constexpr double kNoLatency = 0;

Path InNode(double ranks, double rate) { return {ranks, {{rate, rate, 1, 1, kNoLatency}}}; }

// busbw of nccl-tests: 2 (n - 1)/n bytes over the time.
double BusBandwidth(const Path& path) {
  const double bytes = 1e9;
  return 2 * (path.ranks - 1) / path.ranks * bytes / AllReduceSeconds(path, bytes) / 1e9;
}

TEST(NetworkTest, ARingRunsAtTheSlowestLinkTimesItsLanes) {
  EXPECT_NEAR(BusBandwidth(InNode(8, 360e9)), 360, 1e-6);
  // 64 x H100, eight a node with a NIC each at 48 GB/s: 386 measured.
  const Path nodes = {64, {{450e9, 450e9, 1, 1, kNoLatency}, {48e9, 48e9, 8, 1, kNoLatency}}};
  EXPECT_NEAR(BusBandwidth(nodes), 384, 1e-6);
  // Two nodes of eight A100 with half a 25 GB/s NIC each at 0.85: 78 to 91 measured.
  const Path half = {16,
                     {{231e9, 231e9, 1, 1, kNoLatency}, {10.625e9, 10.625e9, 8, 1, kNoLatency}}};
  EXPECT_NEAR(BusBandwidth(half), 85, 1e-6);
}

TEST(NetworkTest, ARingThatLeavesANodeTwiceHasHalfTheLanes) {
  const Path once = {16, {{42.5e9, 42.5e9, 4, 1, kNoLatency}}};
  const Path twice = {16, {{42.5e9, 42.5e9, 4, 2, kNoLatency}}};
  EXPECT_NEAR(BusBandwidth(once), 170, 1e-6);
  EXPECT_NEAR(BusBandwidth(twice), 85, 1e-6);
  EXPECT_EQ(AllToAllSeconds(once, 1e9), AllToAllSeconds(twice, 1e9));
}

TEST(NetworkTest, LatencyGrowsWithTheLogarithmOfTheGroup) {
  const Path path = {8, {{1e12, 1e12, 1, 1, 1e-6}}};
  EXPECT_NEAR(AllReduceSeconds(path, 0), 4e-6, 1e-12);
  EXPECT_NEAR(GatherSeconds(path, 8e6), (7.0 / 8 * 8e6 / 1e12) + 2e-6, 1e-12);
}

TEST(NetworkTest, AnAllToAllIsBoundByWhatLeavesTheNode) {
  // 64 ranks, eight a node: 56 of 64 parts leave at 42.5 GB/s.
  const Path path = {64, {{360e9, 360e9, 1, 1, kNoLatency}, {42.5e9, 42.5e9, 8, 1, kNoLatency}}};
  EXPECT_NEAR(AllToAllSeconds(path, 1e9), 56.0 / 64 * 1e9 / 42.5e9, 1e-9);
  EXPECT_NEAR(AllToAllSeconds(InNode(8, 360e9), 1e9), 7.0 / 8 * 1e9 / 360e9, 1e-9);
}

TEST(NetworkTest, APairHasOneLineHoweverManySendBeside) {
  const Path path = {4, {{12.5e9, 25e9, 8, 1, kNoLatency}}};
  EXPECT_NEAR(PairSeconds(path, 1e9), 1e9 / 25e9, 1e-9);
  const Path tapered = {4, {{12.5e9, 25e9, 1, 1, kNoLatency}}};
  EXPECT_NEAR(PairSeconds(tapered, 1e9), 1e9 / 12.5e9, 1e-9);
}

TEST(NetworkTest, AGroupOfOneSendsNothing) {
  EXPECT_EQ(AllReduceSeconds({}, 1e9), 0);
  EXPECT_EQ(AllToAllSeconds({}, 1e9), 0);
  EXPECT_EQ(PairSeconds({}, 1e9), 0);
}

// Tensor 8, context 2, data 8, pipeline 8 on nodes of eight, as Megatron orders ranks.
TEST(NetworkTest, MachinesInRankOrderHoldTensorGroupsInside) {
  traffic::Transformer model = testing::Gpt(8192, 80, 64);
  model.global_batch_size = 64;
  Layout layout = testing::Spread(model, 1024, 8, 8);
  layout.parallelism.context = 2;
  const Network network = NetworkOn({8, 360e9, 42.5e9}, layout);
  const Path& tensor = network[Axis::kTensor];
  ASSERT_EQ(tensor.crossings.size(), 1u);
  EXPECT_EQ(tensor.crossings[0].bytes_per_second, 360e9);
  const Path& data = network[Axis::kData];
  EXPECT_EQ(data.ranks, 16);
  ASSERT_EQ(data.crossings.size(), 1u);
  EXPECT_EQ(data.crossings[0].bytes_per_second, 42.5e9);
  EXPECT_EQ(data.crossings[0].members, 1);
  EXPECT_EQ(network[Axis::kPipeline].crossings[0].bytes_per_second, 42.5e9);
}

TEST(NetworkTest, MachinesSplitATensorGroupThatIsWiderThanANode) {
  const Layout layout = testing::Spread(testing::Gpt(8192, 80, 64), 16, 16, 1);
  const Path tensor = NetworkOn({8, 360e9, 42.5e9}, layout)[Axis::kTensor];
  ASSERT_EQ(tensor.crossings.size(), 2u);
  EXPECT_EQ(tensor.crossings[1].members, 8);
}

}  // namespace
}  // namespace weft::outlook
