#include "operator/placement/place.h"

#include <gtest/gtest.h>

#include "tests/support/placement_scene.h"

namespace weft::placement {
namespace {

// A ring of 24 workers, too many for the exact search.
TEST(Solve, HasALowerBoundOnlyIfAskedFor) {
  const testing::FreePerNode eight(8, 8);
  const testing::PlacementScene scene(testing::Leaves({eight, eight, eight, eight}), 24, 8);
  const auto with = Solve(scene.cluster.claims, scene.request, scene.graph);
  Options options;
  options.bound = false;
  const auto without = Solve(scene.cluster.claims, scene.request, scene.graph, options);
  ASSERT_TRUE(with && without);
  EXPECT_FALSE(with->exact);
  EXPECT_GT(with->lower_bound, 0);
  EXPECT_LE(with->lower_bound, with->cost);
  EXPECT_EQ(without->lower_bound, 0);
}

}  // namespace
}  // namespace weft::placement
