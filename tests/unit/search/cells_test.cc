#include "operator/search/cells.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/nodes_of.h"
#include "tests/support/placement_scene.h"
#include "tests/support/raw_of.h"
#include "tests/support/torus_shape.h"

namespace weft::search {
namespace {

using fabric::NodeIndex;
using objective::Instance;
using testing::PlacementScene;

using Numbers = std::vector<std::uint32_t>;

Numbers SlotsOf(const Cells& cells) {
  Numbers slots;
  for (CellIndex c{0}; c < cells.EndIndex(); ++c) slots.push_back(cells.slots(c));
  return slots;
}

// A ring of sixteen nodes, of which a job holds the first four; `most` cells.
Cells OfRing(const Instance& instance, std::size_t most) {
  const ByWorker<NodeIndex> nodes = testing::WorkersOn({0, 1, 2, 3});
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
  const auto near = cells.Near(CellIndex{0});
  Numbers sorted = testing::RawOf(near);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, (Numbers{1, 2, 14, 15}));
  const auto of_next = cells.Near(CellIndex{1});
  EXPECT_EQ(std::count(of_next.begin(), of_next.end(), CellIndex{0}), 1);
  EXPECT_EQ(cells.Weight(CellIndex{0}, CellIndex{1}), cells.Weight(CellIndex{0}, near[0]));
  EXPECT_EQ(cells.Weight(CellIndex{0}, CellIndex{2}), 2 * cells.Weight(CellIndex{0}, CellIndex{1}));
}

TEST(Cells, OnATreeNodesOfOneDomainAreOneCell) {
  const PlacementScene scene(testing::Leaves({{8, 8}, {8, 8}, {8, 8}}), 4, 8);
  const Instance instance = scene.Prepare();
  const Cells cells = OfRing(instance, 100);
  EXPECT_EQ(cells.size(), 3U);
  EXPECT_EQ(SlotsOf(cells), (Numbers{2, 2, 2}));
  EXPECT_EQ(cells.Weight(CellIndex{0}, CellIndex{0}), 20'000);
  EXPECT_EQ(cells.Weight(CellIndex{0}, CellIndex{2}), 40'000);
  EXPECT_EQ(cells.Weight(CellIndex{2}, CellIndex{1}), 40'000);
  EXPECT_EQ(cells.most_weight(), 40'000);
  EXPECT_TRUE(cells.Near(CellIndex{0}).empty());
}

TEST(Cells, WhereNodesTakeSeveralWorkersEveryNodeIsACell) {
  const PlacementScene scene(testing::Leaves({{8, 4}, {2}}), 4, 2);
  const Instance instance = scene.Prepare();
  const auto nodes = testing::WorkersOn({0, 0, 1, 2});
  const Cells cells(instance, nodes, fabric::kOutside, 100);
  EXPECT_EQ(SlotsOf(cells), (Numbers{4, 2, 1}));
  EXPECT_EQ(testing::RawOf(cells.of_worker()), (Numbers{0, 0, 1, 2}));
  EXPECT_EQ(cells.Weight(CellIndex{0}, CellIndex{0}), 0);
  EXPECT_EQ(cells.Weight(CellIndex{0}, CellIndex{1}), 20'000);
}

TEST(Cells, ThoseInUseAreKeptThenTheirNeighboursThenTheRoomiest) {
  // l0, l1 and l2 in one spine, l3 in another.
  const testing::FreePerSpine near = {{{8}}, {{8}}, {{8, 8}}}, far = {{{8, 8, 8}}};
  const PlacementScene scene(testing::Spines({near, far}, false), 1, 8);
  const Instance instance = scene.Prepare();
  const auto nodes = testing::WorkersOn({0});
  const auto kept = [&](std::size_t most) {
    return SlotsOf(Cells(instance, nodes, fabric::kOutside, most));
  };
  EXPECT_EQ(kept(1), (Numbers{1}));
  EXPECT_EQ(kept(2), (Numbers{1, 2}));
  EXPECT_EQ(kept(3), (Numbers{1, 1, 2}));
  EXPECT_EQ(kept(4), (Numbers{1, 1, 2, 3}));
}

TEST(Cells, ThoseInUseAreKeptEvenIfTheyAreTooMany) {
  const PlacementScene scene(testing::Leaves({{8}, {8}, {8}, {8}}), 3, 8);
  const Instance instance = scene.Prepare();
  const auto nodes = testing::WorkersOn({0, 1, 2});
  EXPECT_EQ(Cells(instance, nodes, fabric::kOutside, 1).size(), 3U);
}

TEST(Cells, AWorkerThatStaysKeepsItsNodeAndOthersGetNodesThatWereUsedFirst) {
  const PlacementScene scene(testing::Leaves({{8, 8, 8}, {8, 8}}), 3, 8);
  const Instance instance = scene.Prepare();
  const auto nodes = testing::WorkersOn({1, 3, 4});
  const Cells cells(instance, nodes, fabric::kOutside, 100);
  const auto nodes_for = [&](const Numbers& cell_of) {
    const ByWorker<CellIndex> cell_of_worker(cell_of.begin(), cell_of.end());
    return testing::RawOf(cells.NodesFor(cell_of_worker));
  };
  EXPECT_EQ(nodes_for({0, 1, 1}), testing::RawOf(nodes));
  EXPECT_EQ(nodes_for({1, 0, 1}), (Numbers{3, 1, 4}));
  EXPECT_EQ(nodes_for({0, 0, 0}), (Numbers{1, 0, 2}));
}

}  // namespace
}  // namespace weft::search
