#include "operator/objective/tree.h"

#include <gtest/gtest.h>

#include "tests/support/placement_scene.h"
#include "tests/support/raw_of.h"

namespace weft::objective {
namespace {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using testing::PlacementScene;

using Numbers = std::vector<std::uint32_t>;

constexpr Tier kSpine{1}, kLeaf{2};

Numbers NodesOf(const Tree& tree) {
  Numbers nodes;
  for (std::uint32_t p = 0; p < tree.positions(); ++p) nodes.push_back(tree.node(p).Raw());
  return nodes;
}

std::vector<std::int64_t> StepsOf(const Tree& tree) {
  std::vector<std::int64_t> steps;
  for (Tier t{0}; t <= tree.node_tier(); ++t) steps.push_back(tree.step(t));
  return steps;
}

// Two leaves of two nodes in one spine. n0 and n2 share a scale-up domain, and so do n1 and n3.
testing::FabricShape Crossing() {
  testing::FabricShape shape = testing::Spines({{{{8, 8}}, {{8, 8}}}});
  shape.nodes[0].scale_up = shape.nodes[2].scale_up = "x0";
  shape.nodes[1].scale_up = shape.nodes[3].scale_up = "x1";
  return shape;
}

// The tree of the fabric's first plane, if it has any.
std::optional<Tree> OfPlane(const Instance& instance, Tier home) {
  const auto planes = instance.pair_cost().planes();
  return planes.empty() ? std::nullopt
                        : Tree::OfPlane(instance, planes.front(), home, DomainIndex{0});
}

TEST(Tree, OfASpineHasItsLeavesAndTheNodesWithSlots) {
  const PlacementScene scene(testing::Leaves({{8, 8}, {0, 8}}), 2, 8);
  const Instance instance = scene.Prepare();
  const Tree tree = Tree::OfLevels(instance, kSpine, DomainIndex{0});
  EXPECT_EQ(tree.node_tier(), Tier{2});
  EXPECT_EQ(NodesOf(tree), (Numbers{0, 1, 3}));
  EXPECT_EQ(tree.domains(Tier{0}).begin.Items(), (Numbers{0, 3}));
  EXPECT_EQ(testing::RawOf(tree.domains(Tier{0}).child_begin), (Numbers{0, 2}));
  EXPECT_EQ(tree.domains(Tier{1}).begin.Items(), (Numbers{0, 2, 3}));
  EXPECT_EQ(testing::RawOf(tree.domains(Tier{1}).of_position), (Numbers{0, 0, 1}));
  EXPECT_EQ(testing::RawOf(tree.domains(Tier{1}).child_begin), (Numbers{0, 2, 3}));
  EXPECT_EQ(tree.domains(Tier{2}).begin.Items(), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(tree.SlotsIn(Tier{0}, DomainIndex{0}), 3U);
  EXPECT_EQ(tree.SlotsIn(Tier{1}, DomainIndex{0}), 2U);
  EXPECT_EQ(tree.SlotsIn(Tier{1}, DomainIndex{1}), 1U);
  EXPECT_TRUE(tree.wholly_free(Tier{1}, DomainIndex{0}));
  EXPECT_FALSE(tree.wholly_free(Tier{1}, DomainIndex{1}));  // n2 is used
  EXPECT_TRUE(tree.wholly_free(Tier{2}, DomainIndex{2}));
  // The spine's 40,000 less the leaf's 20,000; the leaf's less a node's 0.
  EXPECT_EQ(StepsOf(tree), (std::vector<std::int64_t>{0, 20'000, 20'000}));
}

TEST(Tree, KeepsOnlyTheRoomiestLeavesForASmallJob) {
  const testing::FabricShape shape = testing::Leaves({{8}, testing::FreePerNode(8, 8), {8, 8}});
  const auto nodes = [&](std::uint32_t workers) {
    const PlacementScene scene(shape, workers, 8);
    return NodesOf(Tree::OfLevels(scene.Prepare(), kSpine, DomainIndex{0}));
  };
  EXPECT_EQ(nodes(1), (Numbers{1, 2, 3, 4, 5, 6, 7, 8}));  // room for eight times the job
  EXPECT_EQ(nodes(2), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(Tree, KeepsTheRoomiestLeafOfASpineThatIsNearlyFull) {
  testing::FabricShape shape = testing::Spines(
      {{{{8}}, {{8}}, {{8}}, {{8}}, {{8}}, {{8}}, {{8}}, {{8}}}, {{{8, 8, 8}}, {{8}}}});
  const PlacementScene scene(shape, 1, 8);
  // The first spine has room for eight times the job; so have the leaf of three nodes and five
  // more.
  EXPECT_EQ(NodesOf(Tree::OfLevels(scene.Prepare(), fabric::kOutside, DomainIndex{0})),
            (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(Tree, OfAScaleUpNetworkHasItsDomainsInsideTheLeavesThatItJoins) {
  const PlacementScene scene(Crossing(), 4, 8);
  const Instance instance = scene.Prepare();
  const auto tree = OfPlane(instance, fabric::kOutside);
  ASSERT_TRUE(tree);
  EXPECT_EQ(NodesOf(*tree), (Numbers{0, 2, 1, 3}));
  EXPECT_EQ(tree->domains(Tier{2}).begin.Items(), (Numbers{0, 4}));  // both leaves
  EXPECT_EQ(tree->domains(Tier{3}).begin.Items(), (Numbers{0, 2, 4}));
  EXPECT_EQ(tree->domains(Tier{4}).begin.Items(), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_FALSE(tree->wholly_free(Tier{2}, DomainIndex{0}));
  EXPECT_TRUE(tree->wholly_free(Tier{4}, DomainIndex{0}));
  // Outside 80,000, spine 40,000, leaf 20,000, the network 1,111, a node 0.
  EXPECT_EQ(StepsOf(*tree), (std::vector<std::int64_t>{0, 40'000, 20'000, 18'889, 1'111}));
}

TEST(Tree, LevelsOfOneSpeedAreAFemtosecondApart) {
  testing::FabricShape shape = Crossing();
  shape.levels = {{"spine", 20'000}, {"leaf", 20'000}};
  const PlacementScene scene(shape, 4, 8);
  const Instance instance = scene.Prepare();
  EXPECT_EQ(StepsOf(Tree::OfLevels(instance, fabric::kOutside, DomainIndex{0})),
            (std::vector<std::int64_t>{0, 60'000, 1, 20'000}));
  EXPECT_EQ(StepsOf(*OfPlane(instance, fabric::kOutside)),
            (std::vector<std::int64_t>{0, 60'000, 1, 18'889, 1'111}));
}

TEST(Tree, OfAScaleUpNetworkIsNoneWhereNothingCrossesTheLevels) {
  const PlacementScene nested(testing::Spines({{{{8, 8}}, {{8, 8}}}}), 4, 8);
  EXPECT_FALSE(OfPlane(nested.Prepare(), fabric::kOutside));
  const PlacementScene crossing(Crossing(), 1, 8);
  const Instance instance = crossing.Prepare();
  EXPECT_FALSE(OfPlane(instance, instance.node_tier()));  // inside one node
}

// n0 and n1 in one leaf, n2 and n3 in another of the same spine, n4 and n5 in another spine. The
// plane joins n0, n1, n3 and n4 for less than the spine costs, and more than a leaf.
TEST(Tree, OfAPlaneBetweenLevelsHasTheNarrowerLevelsInsideItsDomains) {
  testing::FabricShape shape = testing::Spines({{{{8, 8}}, {{8, 8}}}, {{{8, 8}}}}, false);
  shape.planes = {{"eth", 30'000}};
  for (const std::size_t n : {0U, 1U, 3U, 4U}) shape.nodes[n].labels = {{"test/eth", "e"}};
  const PlacementScene scene(shape, 4, 8);
  const Instance instance = scene.Prepare();
  const auto tree = OfPlane(instance, fabric::kOutside);
  ASSERT_TRUE(tree);
  EXPECT_EQ(NodesOf(*tree), (Numbers{0, 1, 3, 4, 2, 5}));
  EXPECT_EQ(tree->domains(Tier{1}).begin.Items(), (Numbers{0, 6}));        // the spines, joined
  EXPECT_EQ(tree->domains(Tier{2}).begin.Items(), (Numbers{0, 4, 5, 6}));  // the plane
  EXPECT_EQ(tree->domains(Tier{3}).begin.Items(), (Numbers{0, 2, 3, 4, 5, 6}));
  // Outside 80,000, spine 40,000, the plane 30,000, leaf 20,000, a node 0.
  EXPECT_EQ(StepsOf(*tree), (std::vector<std::int64_t>{0, 40'000, 10'000, 10'000, 20'000}));
  EXPECT_FALSE(OfPlane(instance, kLeaf));
}

TEST(JoinedByPlanes, LeavesThatShareADomainAreOne) {
  testing::FabricShape shape = testing::Spines({{{{8, 8}}, {{8, 8}}, {{8, 8}}}});
  shape.nodes[1].scale_up = shape.nodes[2].scale_up = "x";
  const PlacementScene scene(shape, 2, 8);
  const Instance instance = scene.Prepare();
  const fabric::ByNode<DomainIndex> joined =
      JoinedByPlanes(instance, instance.pair_cost().planes(), kLeaf);
  ASSERT_EQ(joined.size(), 6U);
  for (const std::uint32_t n : {1U, 2U, 3U}) {
    EXPECT_EQ(joined[NodeIndex{n}], joined[NodeIndex{0}]) << n;
  }
  EXPECT_EQ(joined[NodeIndex{4}], joined[NodeIndex{5}]);
  EXPECT_NE(joined[NodeIndex{4}], joined[NodeIndex{0}]);
}

}  // namespace
}  // namespace weft::objective
