// How long the slowest ranks of an axis wait for messages.
#include "operator/objective/traffic_tally.h"

#include <gtest/gtest.h>

#include "operator/objective/scores.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/nodes_of.h"

namespace weft::objective {
namespace {

using fabric::NodeIndex;
using traffic::Axis;
using traffic::GroupFamily;

GroupFamily Ring(Axis axis, std::uint32_t size, std::int64_t amount,
                 const std::vector<std::uint32_t>& members) {
  GroupFamily family;
  family.axis = axis;
  family.pattern = traffic::Pattern::kRing;
  family.group_size = size;
  family.amount = amount;
  family.members = {members.begin(), members.end()};
  return family;
}

// Two workers in two leaves: a message between them takes the spine's 7 us, one inside a node 1 us.
TEST(Tally, AddsTheLatencyOfTheMessagesThatFollowEachOther) {
  const testing::FabricShape shape = testing::Leaves({{8}, {8}});
  fabric::FabricSpec spec = testing::MakeSpec(shape);
  spec.levels[0].link->latency_nanoseconds = 7'000;
  spec.levels[1].link->latency_nanoseconds = 5'000;
  spec.node_link->latency_nanoseconds = 1'000;
  const auto fabric = fabric::Fabric::Build(spec, testing::MakeNodes(shape), {});
  ASSERT_TRUE(fabric);
  traffic::Traffic traffic;
  traffic.workers = 2;
  traffic.per_worker = 2;
  traffic.ranks = 4;
  traffic.modelled = true;
  traffic.families = {Ring(Axis::kData, 2, 1'000'000, {0, 2, 1, 3}),
                      Ring(Axis::kTensor, 2, 1'000'000, {0, 1, 2, 3})};
  traffic.families[0].messages = 6;
  traffic.families[1].messages = 100;
  traffic::SeatGroups(traffic);
  const ByWorker<NodeIndex> nodes = testing::WorkersOn({0, 1});
  // Data: 1 MB at 40,000 fs a byte + 6 x 7 us; Tensor: 1 MB at 1,111 fs a byte + 100 x 1 us.
  EXPECT_DOUBLE_EQ(Score(PairCost(*fabric, false), traffic, nodes).communication_milliseconds,
                   (0.04 + 0.042) + (0.001111 + 0.1));
}

// Two workers in one scale-up domain of one leaf send each other 1 MB in 10 messages.
double PairInAScaleUpDomain(std::int64_t leaf_nanoseconds, std::int64_t scale_up_nanoseconds,
                            bool claims) {
  testing::FabricShape shape = testing::Spines({{{{8, 8}}}});
  shape.scale_up_requires = fabric::ScaleUpRequires::kComputeDomain;
  fabric::FabricSpec spec = testing::MakeSpec(shape);
  spec.levels[1].link->latency_nanoseconds = leaf_nanoseconds;
  spec.scale_up->link->latency_nanoseconds = scale_up_nanoseconds;
  const auto fabric = fabric::Fabric::Build(spec, testing::MakeNodes(shape), {});
  EXPECT_TRUE(fabric);
  traffic::Traffic traffic;
  traffic.workers = traffic.ranks = 2;
  traffic.modelled = true;
  traffic.families = {Ring(Axis::kData, 2, 1'000'000, {0, 1})};
  traffic.families.front().messages = 10;
  traffic::SeatGroups(traffic);
  const ByWorker<NodeIndex> nodes = testing::WorkersOn({0, 1});
  return Score(PairCost(*fabric, claims), traffic, nodes).communication_milliseconds;
}

TEST(Tally, AScaleUpNetworkThatCarriesNothingLeavesTheLatencyToTheLevel) {
  // Claimed 1,111 fs a byte and 10 x 2 us; unclaimed the leaf's 20,000 fs a byte and 10 x 5 us.
  EXPECT_DOUBLE_EQ(PairInAScaleUpDomain(5'000, 2'000, true), 0.001111 + 0.02);
  EXPECT_DOUBLE_EQ(PairInAScaleUpDomain(5'000, 2'000, false), 0.02 + 0.05);
}

TEST(Tally, MessagesTakeNoTimeWithoutALatency) {
  EXPECT_DOUBLE_EQ(PairInAScaleUpDomain(0, 0, true), 0.001111);
}

}  // namespace
}  // namespace weft::objective
