#include "operator/search/orders.h"

#include <gtest/gtest.h>

#include "tests/support/placement_scene.h"
#include "tests/support/raw_of.h"

namespace weft::search {
namespace {

using testing::PlacementScene;
using testing::WorkerSetsOf;

using Numbers = std::vector<std::uint32_t>;

struct WalkCase {
  const char* name;
  Numbers grid;
  std::vector<objective::Shape> nest;
  std::vector<std::size_t> digits;
  Numbers want;
};

class WalkTest : public ::testing::TestWithParam<WalkCase> {};

TEST_P(WalkTest, VisitsEveryWorkerTileByTile) {
  const auto& [name, grid, nest, digits, want] = GetParam();
  EXPECT_EQ(testing::RawOf(Walk(grid, nest, digits)), want) << name;
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

Numbers Together(PlacementScene& scene, std::vector<objective::GroupConstraint> groups,
                 const Numbers& order) {
  scene.request.groups = std::move(groups);
  std::vector<WorkerIndex> workers(order.begin(), order.end());
  KeepAtomsTogether(scene.Prepare(), workers);
  return testing::RawOf(workers);
}

TEST(KeepAtomsTogether, MovesWorkersNextToTheFirstOfTheirAtom) {
  constexpr fabric::Tier kSpine{1}, kLeaf{2};
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
}  // namespace weft::search
