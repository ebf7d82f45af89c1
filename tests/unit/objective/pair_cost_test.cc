#include "operator/objective/pair_cost.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/placement_scene.h"

namespace weft::objective {
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
  std::vector<PairCost::NetworkIndex> carrying;
};

FabricShape Changed(FabricShape shape, const std::function<void(FabricShape&)>& change) {
  change(shape);
  return shape;
}

// Planes "slow" and "eth", and which nodes are on them.
void AddPlanes(FabricShape& shape, std::initializer_list<std::size_t> eth,
               std::initializer_list<std::size_t> slow) {
  shape.planes = {{"slow", 70'000}, {"eth", 30'000}};
  for (const std::size_t n : eth) shape.nodes[n].labels["test/eth"] = "e";
  for (const std::size_t n : slow) shape.nodes[n].labels["test/slow"] = "s";
}

constexpr PairCost::NetworkIndex kCrossing = 4;  // of Crossing: after the node's

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
      {"OfAPlaneThatIsFasterThanTheSpineButNotThanALeaf",
       Changed(TwoSpines(false),
               [](FabricShape& s) {
                 AddPlanes(s, {0, 1, 3}, {0, 4});
               }),
       false,
       {0, 20'000, 20'000, 30'000, 70'000},
       {3, 2, 2, 5, 4}},
      {"OfTheFasterOfAPlaneAndACrossingScaleUpNetwork",
       Changed(Crossing(),
               [](FabricShape& s) {
                 s.planes = {{"eth", 10'000}};
                 for (const std::size_t n : {0U, 1U, 2U}) s.nodes[n].labels = {{"test/eth", "e"}};
               }),
       false,
       {0, 10'000, 1'111, 40'000},
       {3, 5, kCrossing, 1}},
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
  std::vector<PairCost::NetworkIndex> carrying;
  for (const NodeIndex n : Range<NodeIndex>(cluster.fabric->node_count())) {
    weights.push_back(cost.Weight(NodeIndex{0}, n));
    carrying.push_back(cost.CarryingNetwork(NodeIndex{0}, n));
    EXPECT_EQ(cost.Weight(n, NodeIndex{0}), cost.Weight(NodeIndex{0}, n)) << n.Raw();
    EXPECT_EQ(cost.CarryingNetwork(n, NodeIndex{0}), cost.CarryingNetwork(NodeIndex{0}, n))
        << n.Raw();
    EXPECT_EQ(cost.LinkWeight(NodeIndex{0}, n),
              n == NodeIndex{0} ? 1'111 : cost.Weight(NodeIndex{0}, n))
        << n.Raw();
  }
  EXPECT_EQ(weights, GetParam().want);
  EXPECT_EQ(carrying, GetParam().carrying);
}

INSTANTIATE_TEST_SUITE_P(Table, PairWeightTest, ::testing::ValuesIn(WeightCases()),
                         [](const auto& row) { return row.param.name; });

TEST(PairCost, HasTheWeightsOfTheTiersWidestFirst) {
  const Cluster cluster = MakeCluster(TwoSpines(true));
  const PairCost cost(*cluster.fabric, false);
  const fabric::ByTier<std::int64_t> want = {80'000, 40'000, 20'000, 1'111, 0};
  EXPECT_EQ(std::vector(cost.tier_weights().begin(), cost.tier_weights().end()), want.Items());
  for (Tier t{0}; t < want.EndIndex(); ++t) {
    EXPECT_EQ(cost.TierWeight(t), want[t]);
    EXPECT_EQ(cost.LeastWeight(t), want[t]);
  }
  EXPECT_TRUE(cost.hierarchical());
}

TEST(PairCost, OfACrossingNetworkNoPairCostsLessThanItsLink) {
  const Cluster cluster = MakeCluster(Crossing());
  const PairCost cost(*cluster.fabric, false);
  EXPECT_FALSE(cost.hierarchical());
  EXPECT_EQ(cost.LeastWeight(Tier{1}), 1'111);
  EXPECT_EQ(cost.LeastWeight(Tier{3}), 0);
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
  EXPECT_EQ(cost.Weight(NodeIndex{0}, NodeIndex{1}), 20'000);
  EXPECT_EQ(cost.Weight(NodeIndex{0}, NodeIndex{2}), 40'000);
  EXPECT_EQ(cost.Weight(NodeIndex{2}, NodeIndex{0}), 40'000);
  EXPECT_EQ(cost.Weight(NodeIndex{2}, NodeIndex{2}), 0);
  EXPECT_EQ(cost.TierWeight(Tier{2}), 20'000);
}

TEST(PairCost, MissingRailsDoNotSlowTheScaleUpNetwork) {
  FabricShape shape = Rails();
  shape.scale_up = true;
  for (auto& node : shape.nodes) node.scale_up = "v0";
  const Cluster cluster = MakeCluster(shape);
  const PairCost cost(*cluster.fabric, false);
  EXPECT_EQ(cost.Weight(NodeIndex{0}, NodeIndex{1}), 1'111);
  EXPECT_EQ(cost.Weight(NodeIndex{0}, NodeIndex{2}), 1'111);
}

// Every pair once, by its weight alone.
Int128 ByPairs(const PairCost& cost, const traffic::WorkerGraph& graph,
               const ByWorker<NodeIndex>& nodes) {
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
    const std::uint32_t nodes = scene.cluster.fabric->node_count();
    ByWorker<NodeIndex> at;
    for (std::uint32_t w = 0; w < 12; ++w) at.emplace_back(w * w % nodes);
    EXPECT_GT(Cost(cost, scene.graph, at), 0);
    EXPECT_EQ(Cost(cost, scene.graph, at), ByPairs(cost, scene.graph, at));
  }
}

// Two pods with a ring of four nodes each; two leaves a pod; NVLink domains of two that cross them.
FabricShape Rings() {
  FabricShape shape;
  shape.levels = {{"pod", 40'000}, {"leaf", 5'000}};
  shape.torus = {{"", 4, true}};
  shape.torus_level = "pod";
  shape.hop_femtoseconds_per_byte = 3'000;
  for (int n = 0; n < 8; ++n) {
    const std::string pod = std::to_string(n / 4);
    shape.nodes.push_back({.name = "n" + std::to_string(n),
                           .domains = {"p" + pod, "l" + pod + std::to_string(n % 4 / 2)},
                           .scale_up = "v" + pod + std::to_string(n % 2),
                           .torus = {n % 4}});
  }
  return shape;
}

struct NetworkCase {
  const char* what;
  NodeIndex a, b;
  std::int64_t weight;
  const char* network;
  std::uint32_t crossed;
};

TEST(PairCost, APairPaysTheLeastOfItsLevelAndTheNetworksBesideIt) {
  FabricShape shape = Rings();
  const Cluster ring = MakeCluster(shape);
  const PairCost cost(*ring.fabric, false);
  EXPECT_FALSE(cost.hierarchical());
  for (const NetworkCase& c :
       {NetworkCase{"the same node", NodeIndex{1}, NodeIndex{1}, 0, "node", 1},
        NetworkCase{"one hop", NodeIndex{0}, NodeIndex{1}, 3'000, "torus", 1},
        NetworkCase{"one hop over the leaf's border", NodeIndex{1}, NodeIndex{2}, 3'000, "torus",
                    1},
        NetworkCase{"one hop around the end", NodeIndex{0}, NodeIndex{3}, 3'000, "torus", 1},
        NetworkCase{"two hops", NodeIndex{0}, NodeIndex{2}, 6'000, "torus", 2},
        NetworkCase{"another torus", NodeIndex{0}, NodeIndex{4}, 80'000, "outside", 1}}) {
    EXPECT_EQ(cost.Weight(c.a, c.b), c.weight) << c.what;
    EXPECT_EQ(cost.Weight(c.b, c.a), c.weight) << c.what;
    const PairCost::NetworkIndex network = cost.CarryingNetwork(c.a, c.b);
    EXPECT_EQ(cost.networks()[network].name, c.network) << c.what;
    EXPECT_EQ(cost.LinksCrossed(network, c.a, c.b), c.crossed) << c.what;
  }
  EXPECT_EQ(cost.LeastWeight(*ring.fabric->FindTier("leaf")), 3'000);
  EXPECT_EQ(cost.LeastWeight(*ring.fabric->FindTier("pod")), 3'000);
  EXPECT_EQ(cost.LeastWeight(fabric::kOutside), 80'000);  // no torus joins two pods
}

// "leaf 5000": the network that carries the bytes of two nodes, and what a byte costs.
std::string Carried(const PairCost& cost, NodeIndex a, NodeIndex b) {
  return std::string(cost.networks()[cost.CarryingNetwork(a, b)].name) + " " +
         std::to_string(cost.Weight(a, b));
}

TEST(PairCost, ALevelThatIsCheaperThanItsHopsCarriesThePair) {
  FabricShape shape = Rings();
  shape.hop_femtoseconds_per_byte = 9'000;
  const Cluster ring = MakeCluster(shape);
  const PairCost cost(*ring.fabric, false);
  EXPECT_EQ(Carried(cost, NodeIndex{0}, NodeIndex{1}), "leaf 5000");
  EXPECT_EQ(Carried(cost, NodeIndex{1}, NodeIndex{2}), "torus 9000");
}

TEST(PairCost, ATorusAndACrossingScaleUpNetworkStandSideBySide) {
  FabricShape shape = Rings();
  shape.scale_up = true;
  shape.scale_up_femtoseconds_per_byte = 2'000;
  const Cluster ring = MakeCluster(shape);
  const PairCost cost(*ring.fabric, false);
  EXPECT_EQ(Carried(cost, NodeIndex{0}, NodeIndex{2}), "nvlink 2000");
  EXPECT_EQ(Carried(cost, NodeIndex{0}, NodeIndex{1}), "torus 3000");
  EXPECT_EQ(cost.LeastOffTorus(), 2'000);
}

TEST(PairCost, OnATorusNoTwoNodesStandAlike) {
  FabricShape shape = Rings();
  const Cluster ring = MakeCluster(shape);
  const PairCost on_ring(*ring.fabric, false);
  shape.torus.clear();
  const Cluster tree = MakeCluster(shape);
  const PairCost on_tree(*tree.fabric, false);
  shape.scale_up = true;
  const Cluster crossed = MakeCluster(shape);
  const PairCost on_crossed(*crossed.fabric, false);
  for (const NodeIndex a : Range<NodeIndex>(8)) {
    for (const NodeIndex b : Range<NodeIndex>(8)) {
      EXPECT_EQ(on_ring.stand(a) == on_ring.stand(b), a == b);
      EXPECT_EQ(on_tree.stand(a), on_tree.stand(b));
      const auto& domains = crossed.fabric->crossing_scale_up()->of_node;
      EXPECT_EQ(on_crossed.stand(a) == on_crossed.stand(b), domains[a] == domains[b]);
    }
  }
}

}  // namespace
}  // namespace weft::objective
