#include "operator/objective/pair_cost.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/placement_scene.h"

namespace weft::placement {
namespace {

using fabric::NodeIndex;
using fabric::Tier;
using testing::Cluster;
using testing::FabricShape;
using testing::MakeCluster;
using testing::PlacementScene;

// Spine s0 of leaves l0 (n0, n1 in one scale-up domain, n2 in another) and l1 (n3), and spine s1
// of leaf l2 (n4).
FabricShape TwoSpines(bool scale_up) {
  return testing::Spines({{{{8, 8}, {8}}, {{8}}}, {{{8}}}}, scale_up);
}

// Two leaves of one spine, and a scale-up domain with a node of each.
FabricShape Crossing() {
  FabricShape shape;
  shape.scale_up = true;
  shape.nodes = {{.name = "a", .domains = {"s", "l0"}, .scale_up = "v0"},
                 {.name = "b", .domains = {"s", "l0"}, .scale_up = "v1"},
                 {.name = "c", .domains = {"s", "l1"}, .scale_up = "v0"},
                 {.name = "d", .domains = {"s", "l1"}, .scale_up = "v2"}};
  return shape;
}

struct WeightCase {
  const char* name;
  FabricShape shape;
  bool claims;
  std::vector<std::int64_t> want;  // from n0 (or a) to each node
  std::vector<Tier> carrying;
};

FabricShape Changed(FabricShape shape, const std::function<void(FabricShape&)>& change) {
  change(shape);
  return shape;
}

constexpr Tier kCrossing = PairCost::kCrossingScaleUp;

const std::vector<WeightCase>& WeightCases() {
  static const std::vector<WeightCase> cases = {
      {"OfTheNarrowestSharedLevel",
       TwoSpines(false),
       false,
       {0, 20'000, 20'000, 40'000, 80'000},
       {3, 2, 2, 1, 0}},
      {"AnOuterLevelIsNeverCheaper",
       Changed(TwoSpines(false),
               [](FabricShape& s) {
                 s.levels[0].femtoseconds_per_byte = 10'000;
                 s.outside_femtoseconds_per_byte = 5'000;
               }),
       false,
       {0, 20'000, 20'000, 20'000, 20'000},
       {3, 2, 2, 1, 0}},
      {"OfTheScaleUpNetwork",
       TwoSpines(true),
       false,
       {0, 1'111, 20'000, 40'000, 80'000},
       {4, 3, 2, 1, 0}},
      {"NotOfAScaleUpNetworkThatNobodyClaims",
       Changed(
           TwoSpines(true),
           [](FabricShape& s) { s.scale_up_requires = fabric::ScaleUpRequires::kComputeDomain; }),
       false,
       {0, 20'000, 20'000, 40'000, 80'000},
       {4, 2, 2, 1, 0}},
      {"OfAScaleUpNetworkThatIsClaimed",
       Changed(
           TwoSpines(true),
           [](FabricShape& s) { s.scale_up_requires = fabric::ScaleUpRequires::kComputeDomain; }),
       true,
       {0, 1'111, 20'000, 40'000, 80'000},
       {4, 3, 2, 1, 0}},
      {"NotOfAScaleUpNetworkThatIsSlower",
       Changed(TwoSpines(true), [](FabricShape& s) { s.scale_up_femtoseconds_per_byte = 30'000; }),
       false,
       {0, 20'000, 20'000, 40'000, 80'000},
       {4, 2, 2, 1, 0}},
      {"AcrossLevelsOfTheScaleUpNetwork",
       Crossing(),
       false,
       {0, 20'000, 1'111, 40'000},
       {3, 2, kCrossing, 1}},
      {"AcrossLevelsTheLevelWhereItIsFaster",
       Changed(Crossing(), [](FabricShape& s) { s.scale_up_femtoseconds_per_byte = 50'000; }),
       false,
       {0, 20'000, 40'000, 40'000},
       {3, 2, 1, 1}},
  };
  return cases;
}

class PairWeightTest : public ::testing::TestWithParam<WeightCase> {};

TEST_P(PairWeightTest, IsOfTheLinkThatCarriesThePair) {
  const Cluster cluster = MakeCluster(GetParam().shape);
  const PairCost cost(*cluster.fabric, GetParam().claims);
  std::vector<std::int64_t> weights;
  std::vector<Tier> carrying;
  for (NodeIndex n = 0; n < cluster.fabric->node_count(); ++n) {
    weights.push_back(cost.Weight(0, n));
    carrying.push_back(cost.CarryingTier(0, n));
    EXPECT_EQ(cost.Weight(n, 0), cost.Weight(0, n)) << n;
    EXPECT_EQ(cost.CarryingTier(n, 0), cost.CarryingTier(0, n)) << n;
    EXPECT_EQ(cost.LinkWeight(0, n), n == 0 ? 1'111 : cost.Weight(0, n)) << n;
  }
  EXPECT_EQ(weights, GetParam().want);
  EXPECT_EQ(carrying, GetParam().carrying);
}

INSTANTIATE_TEST_SUITE_P(Table, PairWeightTest, ::testing::ValuesIn(WeightCases()),
                         [](const auto& row) { return row.param.name; });

TEST(PairCost, HasTheWeightsOfTheTiersWidestFirst) {
  const Cluster cluster = MakeCluster(TwoSpines(true));
  const PairCost cost(*cluster.fabric, false);
  const std::vector<std::int64_t> want = {80'000, 40'000, 20'000, 1'111, 0};
  EXPECT_EQ(std::vector(cost.tier_weights().begin(), cost.tier_weights().end()), want);
  for (Tier t = 0; t < want.size(); ++t) {
    EXPECT_EQ(cost.TierWeight(t), want[t]);
    EXPECT_EQ(cost.LeastWeight(t), want[t]);
  }
  EXPECT_TRUE(cost.hierarchical());
}

TEST(PairCost, OfACrossingNetworkNoPairCostsLessThanItsLink) {
  const Cluster cluster = MakeCluster(Crossing());
  const PairCost cost(*cluster.fabric, false);
  EXPECT_FALSE(cost.hierarchical());
  EXPECT_EQ(cost.LeastWeight(1), 1'111);
  EXPECT_EQ(cost.LeastWeight(3), 0);
}

// Two nodes with both rails, one with a single rail.
FabricShape Rails() {
  FabricShape shape;
  shape.rails = fabric::RailsSpec{2, {"r0", "r1"}};
  const auto rails = [](const char* first, const char* second) {
    return std::map<std::string, std::string>{{"r0", first}, {"r1", second}};
  };
  shape.nodes = {{.name = "a", .domains = {"s", "l1"}, .labels = rails("x", "y")},
                 {.name = "b", .domains = {"s", "l1"}, .labels = rails("x", "y")},
                 {.name = "c", .domains = {"s", "l1"}, .labels = {{"r0", "x"}}}};
  return shape;
}

TEST(PairCost, MissingRailsOfEitherNodeMakeTheirPairSlower) {
  const Cluster cluster = MakeCluster(Rails());
  const PairCost cost(*cluster.fabric, false);
  EXPECT_FALSE(cost.hierarchical());
  EXPECT_EQ(cost.Weight(0, 1), 20'000);
  EXPECT_EQ(cost.Weight(0, 2), 40'000);
  EXPECT_EQ(cost.Weight(2, 0), 40'000);
  EXPECT_EQ(cost.Weight(2, 2), 0);
  EXPECT_EQ(cost.TierWeight(2), 20'000);
}

TEST(PairCost, MissingRailsDoNotSlowTheScaleUpNetwork) {
  FabricShape shape = Rails();
  shape.scale_up = true;
  for (auto& node : shape.nodes) node.scale_up = "v0";
  const Cluster cluster = MakeCluster(shape);
  const PairCost cost(*cluster.fabric, false);
  EXPECT_EQ(cost.Weight(0, 1), 1'111);
  EXPECT_EQ(cost.Weight(0, 2), 1'111);
}

// Every pair once, by its weight alone.
Int128 ByPairs(const PairCost& cost, const traffic::WorkerGraph& graph,
               const std::vector<NodeIndex>& nodes) {
  Int128 sum = 0;
  for (const traffic::Edge& edge : graph.edges()) {
    sum += static_cast<Int128>(edge.bytes) * cost.Weight(nodes[edge.a], nodes[edge.b]);
  }
  for (const traffic::Clique& clique : graph.cliques()) {
    for (const auto& a : clique.members) {
      for (const auto& b : clique.members) {
        if (a.worker >= b.worker) continue;
        sum += static_cast<Int128>(a.ranks) * b.ranks * clique.bytes_per_rank_pair *
               cost.Weight(nodes[a.worker], nodes[b.worker]);
      }
    }
  }
  return sum;
}

TEST(Cost, OfARingIsBytesTimesWeightOfEachPair) {
  const PlacementScene scene(TwoSpines(false), 3, 1, {{traffic::Axis::kData, 1000}});
  const PairCost cost(*scene.cluster.fabric, false);
  // Three pairs of 1,000 bytes: leaf, spine, and spine.
  EXPECT_EQ(Cost(cost, scene.graph, scene.At({"n0", "n1", "n3"})),
            Int128{1000} * (20'000 + 40'000 + 40'000));
  EXPECT_EQ(Cost(cost, scene.graph, scene.At({"n0", "n0", "n0"})), 0);
}

TEST(Cost, OfACliqueIsThatOfItsPairsInATreeAndBesideOne) {
  traffic::Parallelism parallelism;
  parallelism.expert = 24;
  for (const FabricShape& shape : {TwoSpines(false), TwoSpines(true), Crossing(), Rails()}) {
    const PlacementScene scene(shape, 12, 2, {{traffic::Axis::kExpert, 23'000}}, parallelism);
    ASSERT_FALSE(scene.graph.cliques().empty());
    const PairCost cost(*scene.cluster.fabric, false);
    const auto nodes = static_cast<NodeIndex>(scene.cluster.fabric->node_count());
    std::vector<NodeIndex> at(12);
    for (std::uint32_t w = 0; w < 12; ++w) at[w] = w * w % nodes;
    EXPECT_GT(Cost(cost, scene.graph, at), 0);
    EXPECT_EQ(Cost(cost, scene.graph, at), ByPairs(cost, scene.graph, at));
  }
}

}  // namespace
}  // namespace weft::placement
