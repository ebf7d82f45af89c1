#include "operator/outlook/placed_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "operator/base/random.h"
#include "operator/outlook/constants.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/layouts.h"
#include "tests/support/models.h"
#include "tests/support/nodes_of.h"
#include "tests/support/torus_shape.h"

namespace weft::outlook {
namespace {

using fabric::NodeIndex;
using traffic::Axis;
using weft::testing::Cluster;
using weft::testing::FabricShape;
using weft::testing::MakeCluster;

// Four leaves of four nodes of eight GPUs, two leaves a spine; 25 GB/s between leaves, 50 inside.
Cluster Tree(bool scale_up, fabric::ScaleUpRequires needs = fabric::ScaleUpRequires::kNothing) {
  FabricShape shape;
  shape.scale_up = scale_up;
  shape.scale_up_requires = needs;
  for (int n = 0; n < 16; ++n) {
    weft::testing::TestNode node;
    node.name = "n" + std::to_string(10 + n);
    node.domains = {"s" + std::to_string(n / 8), "l" + std::to_string(n / 4)};
    if (scale_up) node.scale_up = "v" + std::to_string(n / 2);
    shape.nodes.push_back(node);
  }
  return MakeCluster(shape);
}

struct Case {
  std::int64_t workers, tensor, pipeline;
  ByWorker<NodeIndex> nodes;  // empty: in order
  bool claims = false;
};

Network Of(const Cluster& cluster, Case one) {
  traffic::Transformer model = traffic::testing::Llama70B();
  Layout layout = testing::Spread(model, one.workers * 8, one.tensor, one.pipeline);
  layout.parallelism.sharding = traffic::Sharding::kOptimizerState;
  const auto traffic = traffic::ComputeTraffic(traffic::Model{model, {}}, layout.parallelism,
                                               static_cast<std::uint32_t>(one.workers), 8);
  EXPECT_TRUE(traffic);
  if (one.nodes.empty()) {
    one.nodes.resize(static_cast<std::size_t>(one.workers));
    std::iota(one.nodes.begin(), one.nodes.end(), NodeIndex{0});
  }
  return NetworkOf(layout, *traffic, {cluster.fabric.get(), one.nodes, one.claims});
}

double Gigabytes(double bytes_per_second) { return bytes_per_second / 1e9; }

TEST(PlacedNetworkTest, ATensorGroupInANodeHasTheNodesLink) {
  const Path path = Of(Tree(false), {16, 8, 1, {}, false})[Axis::kTensor];
  EXPECT_EQ(path.ranks, 8);
  ASSERT_EQ(path.crossings.size(), 1u);
  EXPECT_NEAR(Gigabytes(path.crossings[0].bytes_per_second), 900 * kScaleUpEfficiency, 1);
}

TEST(PlacedNetworkTest, ADataGroupLeavesEachLeafOnce) {
  const Path path = Of(Tree(false), {16, 8, 1, {}, false})[Axis::kData];
  EXPECT_EQ(path.ranks, 16);
  ASSERT_EQ(path.crossings.size(), 3u);  // between nodes of a leaf, leaves of a spine, spines
  EXPECT_NEAR(Gigabytes(path.crossings[0].bytes_per_second), 50 * kNetworkEfficiency, 0.1);
  EXPECT_EQ(path.crossings[0].members, 1);
  EXPECT_NEAR(Gigabytes(path.crossings[1].bytes_per_second), 25 * kNetworkEfficiency, 0.1);
  EXPECT_EQ(path.crossings[1].members, 4);
  EXPECT_EQ(path.crossings[1].exits, 1);
  EXPECT_NEAR(Gigabytes(path.crossings[2].bytes_per_second), 12.5 * kNetworkEfficiency, 0.1);
  EXPECT_EQ(path.crossings[2].members, 8);
}

TEST(PlacedNetworkTest, ARingThatGoesToAndFroLeavesItsLeafEachTime) {
  const ByWorker<NodeIndex> to_and_fro = weft::testing::WorkersOn({0, 4, 1, 5, 2, 6, 3, 7});
  const Path path = Of(Tree(false), {8, 8, 1, to_and_fro, false})[Axis::kData];
  ASSERT_EQ(path.crossings.size(), 1u);
  EXPECT_EQ(path.crossings[0].members, 4);
  EXPECT_EQ(path.crossings[0].exits, 4);
}

TEST(PlacedNetworkTest, AScaleUpDomainCarriesWhatStaysInItWhereTheJobMayUseIt) {
  const auto tensor16 = [](const Cluster& cluster, bool claims) {
    return Of(cluster, {4, 16, 1, {}, claims})[Axis::kTensor];
  };
  const Path open = tensor16(Tree(true), false);
  ASSERT_EQ(open.crossings.size(), 2u);
  EXPECT_NEAR(Gigabytes(open.crossings[1].bytes_per_second), 900 * kScaleUpEfficiency, 1);
  const auto needs = fabric::ScaleUpRequires::kComputeDomain;
  EXPECT_NEAR(Gigabytes(tensor16(Tree(true, needs), true).crossings[1].bytes_per_second),
              900 * kScaleUpEfficiency, 1);
  const Path without = tensor16(Tree(true, needs), false);
  ASSERT_EQ(without.crossings.size(), 2u);
  EXPECT_NEAR(Gigabytes(without.crossings[1].bytes_per_second), 50 * kNetworkEfficiency, 0.1);
  EXPECT_EQ(without.crossings[1].members, 8);
}

TEST(PlacedNetworkTest, ATorusCarriesARingAtItsRateOverTheHops) {
  FabricShape shape = weft::testing::TorusOf({8}, std::vector<bool>(8, true));
  shape.hop_femtoseconds_per_byte = 2'000;  // 500 GB/s
  const Cluster ring = MakeCluster(shape);
  const auto torus = [&](const ByWorker<NodeIndex>& nodes) {
    const Path path =
        Of(ring, {static_cast<std::int64_t>(nodes.size()), 8, 1, nodes, false})[Axis::kData];
    EXPECT_EQ(path.crossings.size(), 1u);
    return Gigabytes(path.crossings.front().bytes_per_second);
  };
  EXPECT_NEAR(torus(weft::testing::WorkersOn({0, 1, 2, 3, 4, 5, 6, 7})), 500 * kScaleUpEfficiency,
              1);
  EXPECT_NEAR(torus(weft::testing::WorkersOn({0, 2, 4, 6})), 500 * kScaleUpEfficiency / 2, 1);
  EXPECT_NEAR(torus(weft::testing::WorkersOn({0, 1, 2, 3})), 500 * kScaleUpEfficiency / 3,
              1);  // 3 hops back
}

TEST(PlacedNetworkTest, StagesSendEachOtherOverOneLine) {
  const Path path = Of(Tree(false), {16, 8, 4, {}, false})[Axis::kPipeline];
  EXPECT_EQ(path.ranks, 4);
  ASSERT_EQ(path.crossings.size(), 2u);
  EXPECT_NEAR(Gigabytes(path.crossings[0].bytes_per_second), 25 * kNetworkEfficiency, 0.1);
}

// The least members beside each other for each time that a ring leaves them, by tier; rank by rank.
std::map<fabric::Tier, double> ByRank(const fabric::Fabric& fabric,
                                      const traffic::GroupFamily& family,
                                      const ByWorker<NodeIndex>& nodes, bool& shares_node) {
  std::map<fabric::Tier, double> least;
  for (std::size_t g = 0; g < family.groups(); ++g) {
    std::vector<NodeIndex> ring;
    std::map<NodeIndex, double> ranks;
    for (const traffic::RankIndex rank : family.group(g)) {
      const NodeIndex node = nodes[traffic::WorkerOf(rank, 8)];
      if (ranks[node]++ == 0) ring.push_back(node);
    }
    shares_node = shares_node || ring.size() < family.group_size;
    for (std::size_t i = 0; ring.size() > 1 && i < ring.size(); ++i) {
      const fabric::Tier tier = fabric.SharedTier(ring[i], ring[(i + 1) % ring.size()]);
      const auto& side = fabric.domains(tier + 1).of_node;
      std::map<fabric::DomainIndex, std::pair<double, double>> sides;
      for (std::size_t k = 0; k < ring.size(); ++k) {
        auto& [members, exits] = sides[side[ring[k]]];
        members += ranks[ring[k]];
        exits += side[ring[k]] != side[ring[(k + 1) % ring.size()]] ? 1 : 0;
      }
      for (const auto& [domain, count] : sides) {
        if (count.second == 0) continue;
        const auto found = least.try_emplace(tier, count.first / count.second).first;
        found->second = std::min(found->second, count.first / count.second);
      }
    }
  }
  return least;
}

TEST(PlacedNetworkTest, IsWhatACountRankByRankGives) {
  const Cluster cluster = Tree(false);
  const fabric::Fabric& fabric = *cluster.fabric;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SplitMix64 random(seed);
    const bool alone = random.Below(2) == 0;  // each worker on a node of its own
    const std::int64_t workers = 1 + static_cast<std::int64_t>(random.Below(alone ? 16 : 24));
    Layout layout =
        testing::Spread(traffic::testing::Llama70B(), workers * 8, random.Below(2) == 0 ? 4 : 8, 1);
    layout.model.global_batch_size = workers * 8 * 4;
    layout.model.micro_batch_size = 1;
    if (workers % 2 == 0) layout.parallelism.pipeline = 2;
    const auto traffic =
        traffic::ComputeTraffic(traffic::Model{layout.model, {}}, layout.parallelism,
                                static_cast<std::uint32_t>(workers), 8);
    ASSERT_TRUE(traffic) << traffic.error().message;
    ByWorker<NodeIndex> nodes;
    while (std::ssize(nodes) < workers) {
      const auto node = NodeIndex::Of(random.Below(16));
      if (!alone || std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
        nodes.push_back(node);
      }
    }
    const Network network = NetworkOf(layout, *traffic, {&fabric, nodes, false});
    for (const traffic::GroupFamily& family : traffic->families) {
      bool shares_node = false;
      const auto want = ByRank(fabric, family, nodes, shares_node);
      const Path& path = network[family.axis];
      EXPECT_EQ(path.ranks, family.group_size);
      ASSERT_EQ(path.crossings.size(), want.size() + (shares_node ? 1 : 0));
      auto crossing = path.crossings.rbegin();  // widest first, as the map has them
      for (const auto& [tier, ratio] : want) {
        EXPECT_DOUBLE_EQ(crossing->members / crossing->exits, ratio) << tier.Raw();
        ++crossing;
      }
    }
  }
}

}  // namespace
}  // namespace weft::outlook
