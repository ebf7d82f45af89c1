#include "operator/search/tiler.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/placement_scene.h"

namespace weft::search {
namespace {

using fabric::Tier;
using testing::PlacementScene;

constexpr Tier kLeaf{2}, kNode{3};

// Where the workers 0, 1, ... come to stand.
std::string Laid(const PlacementScene& scene, std::vector<TilingStep> steps) {
  const objective::Instance instance = scene.Prepare();
  const objective::Tree tree =
      objective::Tree::OfLevels(instance, fabric::kOutside, fabric::DomainIndex{0});
  Tiling tiling;
  tiling.walk.resize(instance.workers());
  std::iota(tiling.walk.begin(), tiling.walk.end(), WorkerIndex{0});
  tiling.steps = std::move(steps);
  const auto nodes = Tiler(instance, tree).Lay(tiling);
  return nodes ? scene.Show(*nodes) : "does not fit";
}

TEST(Tiler, PutsUnitsWholeIntoDomainsOfTheStepsTier) {
  const testing::FabricShape threes = testing::Leaves({{8, 8, 8}, {8, 8, 8}});
  EXPECT_EQ(Laid(PlacementScene(threes, 4, 8), {{2, kLeaf}, {1, kNode}}), "n0 n1 n3 n4");
  EXPECT_EQ(Laid(PlacementScene(threes, 3, 8), {{1, kNode}}), "n0 n1 n2");
}

TEST(Tiler, PutsUnitsForWhichThereIsNoRoomByTheNextStep) {
  const testing::FabricShape threes = testing::Leaves({{8, 8, 8}, {8, 8, 8}});
  EXPECT_EQ(Laid(PlacementScene(threes, 6, 8), {{2, kLeaf}, {1, kNode}}), "n0 n1 n3 n4 n2 n5");
  EXPECT_EQ(Laid(PlacementScene(threes, 7, 8), {{2, kLeaf}, {1, kNode}}), "does not fit");
}

TEST(Tiler, CountsRoomForAUnitInTheSmallerUnitsThatItIsMadeOf) {
  const PlacementScene scene(testing::Leaves({{6, 6}}), 6, 2);  // 3 slots each
  EXPECT_EQ(Laid(scene, {{4, kLeaf}, {2, kNode}, {1, kNode}}), "n0 n0 n1 n1 n0 n1");
  // Two leaves have five slots and four: room for one pair of pairs each, or for one unit of five.
  const PlacementScene leaves(testing::Leaves({{6, 4}, {4, 4}}), 8, 2);
  EXPECT_EQ(Laid(leaves, {{4, kLeaf}, {2, kNode}, {1, kNode}}), "n0 n0 n1 n1 n2 n2 n3 n3");
  EXPECT_EQ(Laid(leaves, {{5, kLeaf}, {1, kNode}}), "n0 n0 n0 n1 n1 n2 n2 n3");
}

}  // namespace
}  // namespace weft::search
