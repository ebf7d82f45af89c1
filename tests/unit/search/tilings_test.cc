#include "operator/search/tilings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/placement_scene.h"

namespace weft::search {
namespace {

using testing::PlacementScene;

// Rings of eight workers, of which a node takes four.
TEST(Tilings, OfUnitsLargerThanANodeAreMadeOfWhatANodeHolds) {
  traffic::Parallelism parallelism;
  parallelism.tensor = 16;
  const testing::FreePerNode four(4, 8);
  PlacementScene scene(testing::Leaves({four, four}), 32, 2,
                       {{traffic::Axis::kTensor, 1'000'000}, {traffic::Axis::kData, 1'000}},
                       parallelism);
  scene.request.grid = {8, 4};
  const objective::Instance instance = scene.Prepare();
  const objective::Tree tree =
      objective::Tree::OfLevels(instance, fabric::kOutside, fabric::DomainIndex{0});
  const auto has = [](const Tiling& tiling, const auto& wanted) {
    return std::any_of(tiling.steps.begin(), tiling.steps.end(), wanted);
  };
  const std::vector<Tiling> tilings = TilingsFor(instance, tree);
  EXPECT_TRUE(std::any_of(tilings.begin(), tilings.end(), [&](const Tiling& tiling) {
    return has(tiling, [](const TilingStep& step) { return step.unit == 8; }) &&
           has(tiling, [&](const TilingStep& step) {
             return step == TilingStep{4, tree.node_tier()};
           });
  }));
}

}  // namespace
}  // namespace weft::search
