#include "operator/bound/nest.h"

#include <gtest/gtest.h>

#include "tests/support/placement_scene.h"
#include "tests/support/torus_shape.h"

namespace weft::bound {
namespace {

using fabric::NodeIndex;
using testing::PlacementScene;

// "tier:step:domains" of each level, narrowest first.
std::string Show(const Nest& nest) {
  std::string text;
  for (const Level& level : nest) {
    text += (text.empty() ? "" : " ") + std::to_string(level.tier.Raw()) + ":" +
            std::to_string(level.step) + ":" + std::to_string(level.domains);
  }
  return text;
}

// Two leaves of two nodes in one spine, each leaf one scale-up domain. Outside 80,000, spine
// 40,000, leaf 20,000, the scale-up network 1,111.
testing::FabricShape TwoLeaves() { return testing::Spines({{{{8, 8}}, {{8, 8}}}}); }

std::string Runs(const PlacementScene& scene, const std::string& level) {
  std::string text;
  for (const bound::Run& run : Homes(scene.Prepare(), scene.tier(level))) {
    text += (text.empty() ? "" : " ") + std::to_string(run.begin.Raw()) + "-" +
            std::to_string(run.end.Raw());
  }
  return text;
}

TEST(NestOfLevels, HasALevelWhereverAByteCostsMore) {
  const PlacementScene scene(TwoLeaves(), 4, 8);
  EXPECT_EQ(Show(NestOfLevels(scene.Prepare())), "4:1111:4 3:18889:2 2:20000:2 1:40000:1");
}

TEST(NestOfLevels, LeavesOutANetworkThatTheJobMayNotUse) {
  testing::FabricShape shape = TwoLeaves();
  shape.scale_up_requires = fabric::ScaleUpRequires::kComputeDomain;
  const PlacementScene scene(shape, 4, 8);
  EXPECT_EQ(Show(NestOfLevels(scene.Prepare())), "4:20000:4 2:20000:2 1:40000:1");
}

TEST(PlaneNest, HasTheNetworksDomainsBelowTheLevelsThatItJoins) {
  testing::FabricShape shape = TwoLeaves();
  shape.nodes[0].scale_up = shape.nodes[2].scale_up = "x0";
  shape.nodes[1].scale_up = shape.nodes[3].scale_up = "x1";
  const PlacementScene scene(shape, 4, 8);
  const auto crossing = PlaneNest::Of(scene.Prepare());
  ASSERT_TRUE(crossing);
  const Nest& nest = crossing->nest();
  EXPECT_EQ(Show(nest), "3:1111:4 3:18889:4 2:20000:4 1:40000:4");
  for (const NodeIndex n : {NodeIndex{0}, NodeIndex{1}}) {
    EXPECT_EQ(nest[1].Of(n), nest[1].Of(n + 2));
    EXPECT_EQ(nest[2].Of(NodeIndex{0}), nest[2].Of(n));
  }
  EXPECT_NE(nest[1].Of(NodeIndex{0}), nest[1].Of(NodeIndex{1}));
  EXPECT_EQ(nest[2].Of(NodeIndex{0}), nest[2].Of(NodeIndex{3}));
}

// The plane joins n1 and n2 for less than the spine costs, and more than a leaf.
TEST(PlaneNest, HasTheLevelsThatAreNoDearerBelowWhatThePlaneJoins) {
  testing::FabricShape shape = TwoLeaves();
  shape.scale_up = false;
  shape.planes = {{"eth", 30'000}};
  for (const std::size_t n : {1U, 2U}) shape.nodes[n].labels = {{"test/eth", "e"}};
  const PlacementScene scene(shape, 4, 8);
  const auto nest = PlaneNest::Of(scene.Prepare());
  ASSERT_TRUE(nest);
  // Nodes, leaves, both leaves joined, the spine.
  EXPECT_EQ(Show(nest->nest()), "3:20000:4 2:10000:2 2:10000:4 1:40000:4");
  EXPECT_EQ(nest->nest()[2].Of(NodeIndex{0}), nest->nest()[2].Of(NodeIndex{3}));
}

TEST(PlaneNest, IsNoneWithoutSuchANetworkOrOnATorus) {
  EXPECT_FALSE(PlaneNest::Of(PlacementScene(TwoLeaves(), 4, 8).Prepare()));
  testing::FabricShape torus = testing::TorusOf({4}, std::vector<bool>(4, true));
  EXPECT_FALSE(PlaneNest::Of(PlacementScene(torus, 4, 8).Prepare()));
}

TEST(Homes, AreTheDomainsWithRoomForTheJob) {
  const PlacementScene two(testing::Leaves({{8, 8}, {8}, {8, 0, 8}}), 2, 8);
  EXPECT_EQ(Runs(two, "leaf"), "0-2 3-6");
  EXPECT_EQ(Runs(two, "spine"), "0-6");
}

TEST(Homes, AreAllNodesTogetherWhereTheyAreMany) {
  const std::vector<testing::FreePerNode> leaves(20, testing::FreePerNode(1, 8));
  EXPECT_EQ(Runs(PlacementScene(testing::Leaves(leaves), 1, 8), "leaf"), "0-20");
}

}  // namespace
}  // namespace weft::bound
