#include "operator/search/cells.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/placement_scene.h"
#include "tests/support/torus_shape.h"

namespace weft::placement {
namespace {

using fabric::NodeIndex;
using testing::PlacementScene;

// A ring of sixteen nodes, of which a job holds the first four; `most` cells.
Cells OfRing(const Instance& instance, std::size_t most) {
  const std::vector<NodeIndex> nodes = {0, 1, 2, 3};
  return Cells(instance, nodes, fabric::kOutside, most);
}

TEST(Cells, OnATorusFreeNodesTakePartBesideThoseInUse) {
  const PlacementScene scene(testing::TorusOf({16}, std::vector<bool>(16, true)), 4, 8);
  const Instance instance = scene.Prepare();
  EXPECT_EQ(OfRing(instance, 2).size(), 6U);
  EXPECT_EQ(OfRing(instance, 100).size(), 16U);
}

TEST(Cells, OnATorusTheNearestCellsAreKnown) {
  const PlacementScene scene(testing::TorusOf({16}, std::vector<bool>(16, true)), 4, 8);
  const Instance instance = scene.Prepare();
  const Cells cells = OfRing(instance, 100);
  const auto near = cells.Near(0);
  std::vector<std::uint32_t> sorted(near.begin(), near.end());
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, (std::vector<std::uint32_t>{1, 2, 14, 15}));
  EXPECT_EQ(cells.Weight(0, 1), cells.Weight(0, near[0]));
  EXPECT_EQ(cells.Weight(0, 2), 2 * cells.Weight(0, 1));
}

TEST(Cells, OnATreeNodesOfOneDomainAreOneCell) {
  const PlacementScene scene(testing::Leaves({{8, 8}, {8, 8}, {8, 8}}), 4, 8);
  const Instance instance = scene.Prepare();
  const Cells cells = OfRing(instance, 100);
  EXPECT_EQ(cells.size(), 3U);
  EXPECT_TRUE(cells.Near(0).empty());
}

}  // namespace
}  // namespace weft::placement
