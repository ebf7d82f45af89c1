#include "operator/search/fill.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/placement_scene.h"

namespace weft::search {
namespace {

using fabric::Tier;
using testing::PlacementScene;
using testing::WorkerSetsOf;

using Numbers = std::vector<std::uint32_t>;

constexpr Tier kSpine{1}, kLeaf{2}, kNode{3};

// Where the workers come to stand in the one spine, laid in the order `given` (0, 1, ... without
// one).
std::string Filled(const PlacementScene& scene, fabric::ByTier<std::uint32_t> units = {1, 1, 1, 1},
                   const Numbers& given = {}) {
  const objective::Instance instance = scene.Prepare();
  Rooms plain(instance, {1, 1, 1, 1}), rooms(instance, std::move(units));
  std::vector<WorkerIndex> order(given.begin(), given.end());
  if (order.empty()) {
    order.resize(instance.workers());
    std::iota(order.begin(), order.end(), WorkerIndex{0});
  }
  const auto nodes = Filler(instance, plain).Fill(kSpine, fabric::DomainIndex{0}, order, rooms);
  return nodes ? scene.Show(*nodes) : "does not fit";
}

TEST(Filler, TakesTheOneChildThatFitsMostTightly) {
  EXPECT_EQ(Filled(PlacementScene(testing::Leaves({{8, 8}, {8}, {8, 8}}), 2, 4)), "n2 n2");
  EXPECT_EQ(Filled(PlacementScene(testing::Leaves({{8, 8}, {8}, {4, 4, 4}}), 3, 4)), "n3 n4 n5");
  EXPECT_EQ(Filled(PlacementScene(testing::Leaves({{8, 4}, {8, 8}}), 1, 4)), "n1");
}

TEST(Filler, ElseTheLargestFirstAndTheRestWhereItFitsMostTightly) {
  EXPECT_EQ(Filled(PlacementScene(testing::Leaves({{8, 8}, {8, 8}, {8}}), 5, 4)), "n0 n0 n1 n1 n4");
  EXPECT_EQ(Filled(PlacementScene(testing::Leaves({{8, 8}, {8, 8}}), 8, 4)),
            "n0 n0 n1 n1 n2 n2 n3 n3");
  EXPECT_EQ(Filled(PlacementScene(testing::Leaves({{8, 8}, {8, 8}}), 9, 4)), "does not fit");
}

TEST(Filler, LaysTheWorkersInTheOrderGiven) {
  const PlacementScene scene(testing::Leaves({{8, 8}}), 4, 4);
  EXPECT_EQ(Filled(scene, {1, 1, 1, 1}, {0, 2, 1, 3}), "n0 n1 n0 n1");
}

TEST(Filler, KeepsTheAtomsOfANodeWhole) {
  PlacementScene scene(testing::Leaves({{6, 6}}), 4, 2);
  EXPECT_EQ(Filled(scene), "n0 n0 n0 n1");
  scene.request.groups = {{WorkerSetsOf({{0, 1}, {2, 3}}), kNode, std::nullopt}};
  EXPECT_EQ(Filled(scene), "n0 n0 n1 n1");
}

TEST(Filler, KeepsSoftAtomsWholeAsLongAsThereIsRoom) {
  PlacementScene roomy(testing::Leaves({{6, 6}}), 4, 2);
  roomy.request.groups = {{WorkerSetsOf({{0, 1}, {2, 3}}), std::nullopt, kNode}};
  EXPECT_EQ(Filled(roomy), "n0 n0 n1 n1");
  PlacementScene tight(testing::Leaves({{6, 6}}), 6, 2);
  tight.request.groups = {{WorkerSetsOf({{0, 1}, {2, 3}, {4, 5}}), std::nullopt, kNode}};
  EXPECT_EQ(Filled(tight), "n0 n0 n1 n1 n0 n1");
}

TEST(Filler, OfAtomsOfALeafNoneIsSplit) {
  PlacementScene scene(testing::Leaves({{8, 4}, {8, 4}}), 4, 4);
  scene.request.groups = {{WorkerSetsOf({{0, 1}, {2, 3}}), kLeaf, std::nullopt}};
  EXPECT_EQ(Filled(scene), "n0 n0 n2 n2");
  scene.request.groups = {{WorkerSetsOf({{0, 1, 2, 3}}), kLeaf, std::nullopt}};
  EXPECT_EQ(Filled(scene), "does not fit");
}

TEST(Filler, PutsWholeTilesFirstAndWhatIsLeftOverWhereThereAreSlots) {
  const PlacementScene scene(testing::Leaves({{6, 6, 4}}), 8, 2);  // 3, 3 and 2 slots
  EXPECT_EQ(Filled(scene, {1, 1, 1, 2}), "n0 n0 n1 n1 n2 n2 n0 n1");
  EXPECT_EQ(Filled(PlacementScene(testing::Leaves({{6, 6, 4}}), 9, 2), {1, 1, 1, 2}),
            "does not fit");
}

TEST(Filler, PutsLeftoverWorkersIntoChildrenWithoutATile) {
  const PlacementScene scene(testing::Leaves({{4, 2, 2}}), 4, 2);  // 2, 1 and 1 slots
  EXPECT_EQ(Filled(scene, {1, 1, 1, 2}), "n0 n0 n1 n2");
}

}  // namespace
}  // namespace weft::search
