#include "operator/search/orders.h"

#include <gtest/gtest.h>

#include "tests/support/placement_scene.h"

namespace weft::placement {
namespace {

using testing::PlacementScene;
using testing::WorkerSetsOf;

using Numbers = std::vector<std::uint32_t>;

struct WalkCase {
  const char* name;
  Numbers grid;
  std::vector<Shape> nest;
  std::vector<std::size_t> digits;
  Numbers want;
};

class WalkTest : public ::testing::TestWithParam<WalkCase> {};

TEST_P(WalkTest, VisitsEveryWorkerTileByTile) {
  EXPECT_EQ(Walk(GetParam().grid, GetParam().nest, GetParam().digits), GetParam().want);
}

const WalkCase kWalks[] = {
    {"InTheGridsOwnOrder", {4, 2}, {}, {0, 1}, {0, 1, 2, 3, 4, 5, 6, 7}},
    {"TheOtherDigitFastest", {4, 2}, {}, {1, 0}, {0, 4, 1, 5, 2, 6, 3, 7}},
    {"InSquares", {4, 2}, {{2, 2}}, {0, 1}, {0, 1, 4, 5, 2, 3, 6, 7}},
    {"InSquaresTheOtherDigitFastest", {4, 2}, {{2, 2}}, {1, 0}, {0, 4, 1, 5, 2, 6, 3, 7}},
    {"InRowsOfSquares",
     {4, 4},
     {{4, 2}, {2, 2}},
     {0, 1},
     {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}},
    {"AlongThreeDigits", {2, 1, 3}, {}, {2, 0, 1}, {0, 2, 4, 1, 3, 5}},
    {"OfOneWorker", {1}, {}, {0}, {0}},
};
INSTANTIATE_TEST_SUITE_P(Table, WalkTest, ::testing::ValuesIn(kWalks),
                         [](const auto& row) { return row.param.name; });

TEST(HeaviestFirst, SortsDigitsByTheirBytesAndKeepsTheOrderOfEqualOnes) {
  EXPECT_EQ(HeaviestFirst(std::vector<double>{1, 3, 2}), (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_EQ(HeaviestFirst(std::vector<double>{2, 5, 2, 5}), (std::vector<std::size_t>{1, 3, 0, 2}));
  EXPECT_TRUE(HeaviestFirst({}).empty());
}

struct TileCase {
  const char* name;
  Numbers grid, inner;
  std::vector<double> weights;
  std::uint64_t room;
  Shape want;
};

class BestTileTest : public ::testing::TestWithParam<TileCase> {};

TEST_P(BestTileTest, CutsTheFewestBytes) {
  const TileCase& c = GetParam();
  EXPECT_EQ(BestTile(c.grid, c.inner, c.weights, c.room), c.want);
}

const TileCase kTiles[] = {
    {"AlongTheHeavyDigit", {4, 4}, {1, 1}, {10, 1}, 4, {4, 1}},
    {"AlongTheOtherHeavyDigit", {4, 4}, {1, 1}, {1, 10}, 4, {1, 4}},
    {"TheWholeGridWhereThereIsRoom", {4, 4}, {1, 1}, {10, 1}, 16, {4, 4}},
    {"SingleWorkersWhereThereIsNone", {4, 4}, {1, 1}, {10, 1}, 1, {1, 1}},
    {"OfMultiplesOfTheInnerTile", {12, 4}, {3, 2}, {10, 1}, 13, {6, 2}},
    {"OfDivisorsOfTheGridAlone", {6, 1}, {1, 1}, {1, 0}, 5, {3, 1}},
    {"TheLargerOfEqualOnes", {4, 4}, {1, 1}, {10, 0}, 8, {4, 2}},
    {"TheInnerTileItselfWhereItFillsTheRoom", {4, 4}, {2, 2}, {10, 1}, 4, {2, 2}},
};
INSTANTIATE_TEST_SUITE_P(Table, BestTileTest, ::testing::ValuesIn(kTiles),
                         [](const auto& row) { return row.param.name; });

TEST(AxisWeights, AreTheBytesPerWorkerThatCrossEachDigit) {
  traffic::Parallelism shape;
  shape.tensor = 2;
  const PlacementScene scene(testing::Leaves({{8}}), 8, 1,
                             {{traffic::Axis::kTensor, 3000}, {traffic::Axis::kData, 1000}}, shape);
  const Numbers grid = {2, 4};
  // Pairs of tensor ranks exchange 6,000 bytes, four of them; rings of four data ranks 1,000 a
  // pair, two rings of four pairs.
  EXPECT_EQ(AxisWeights(scene.graph, grid), (std::vector<double>{4 * 6000 / 8.0, 8 * 1000 / 8.0}));
  EXPECT_TRUE(AxisWeights(scene.graph, {}).empty());
}

TEST(AxisWeights, CountACliqueAtTheDigitItSpans) {
  traffic::Parallelism shape;
  shape.expert = 16;
  const PlacementScene scene(testing::Leaves({{8}}), 32, 1, {{traffic::Axis::kExpert, 15'000}},
                             shape);
  ASSERT_EQ(scene.graph.cliques().size(), 2u);
  const auto weights = AxisWeights(scene.graph, Numbers{16, 2});
  // Two cliques of 16, 2,000 bytes a pair: 15 neighbours each, times the members over four.
  EXPECT_EQ(weights, (std::vector<double>{2 * 15 * 2000 * 16 / 4 / 32.0, 0}));
}

Numbers Together(PlacementScene& scene, std::vector<GroupConstraint> groups, Numbers workers) {
  scene.request.groups = std::move(groups);
  KeepAtomsTogether(scene.Prepare(), workers);
  return workers;
}

TEST(KeepAtomsTogether, MovesWorkersNextToTheFirstOfTheirAtom) {
  constexpr fabric::Tier kSpine = 1, kLeaf = 2;
  PlacementScene scene(testing::Leaves({{8}}), 6, 1);
  EXPECT_EQ(Together(scene, {}, {5, 0, 1, 2, 3, 4}), (Numbers{5, 0, 1, 2, 3, 4}));
  EXPECT_EQ(Together(scene, {{WorkerSetsOf({{0, 3}, {1, 4}, {2, 5}}), kLeaf, std::nullopt}},
                     {5, 0, 1, 2, 3, 4}),
            (Numbers{5, 2, 0, 3, 1, 4}));
  // Pairs of leaves inside threes of a spine.
  EXPECT_EQ(Together(scene,
                     {{WorkerSetsOf({{0, 3}, {1, 4}}), std::nullopt, kLeaf},
                      {WorkerSetsOf({{0, 3, 5}, {1, 2, 4}}), kSpine, std::nullopt}},
                     {0, 1, 2, 3, 4, 5}),
            (Numbers{0, 3, 5, 1, 4, 2}));
}

}  // namespace
}  // namespace weft::placement
