#include "operator/placement/place.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/placement_scene.h"

namespace weft::placement {
namespace {

// A ring of 24 workers, too many for the exact search.
TEST(Solve, HasALowerBoundOnlyIfAskedFor) {
  const testing::FreePerNode eight(8, 8);
  const testing::PlacementScene scene(testing::Leaves({eight, eight, eight, eight}), 24, 8);
  const auto with = Solve(scene.cluster.claims, scene.request, scene.graph);
  objective::Options options;
  options.bound = false;
  const auto without = Solve(scene.cluster.claims, scene.request, scene.graph, options);
  ASSERT_TRUE(with && without);
  EXPECT_FALSE(with->exact);
  EXPECT_GT(with->lower_bound, 0);
  EXPECT_LE(with->lower_bound, with->cost);
  EXPECT_EQ(without->lower_bound, 0);
}

// FSDP on the trays of three NVL72 racks. Full racks would leave 2 trays for the third, whose 8
// lanes make the ring more than twice as slow as NVLink.
TEST(Solve, ARingGetsNoPartThatSlowsIt) {
  const testing::FreePerLeaf rack = {testing::FreePerNode(18, 4)};
  testing::FabricShape shape = testing::Spines({{rack, rack, rack, rack}}, true, 4);
  shape.scale_up_femtoseconds_per_byte = 1'111;
  testing::PlacementScene scene(shape, 38, 4, {{traffic::Axis::kSharding, 1'000'000'000}});
  const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph);
  ASSERT_TRUE(plan);
  std::map<fabric::DomainIndex, int> trays;
  for (const auto node : plan->nodes) {
    ++trays[scene.cluster.fabric->domains(scene.tier("nvlink")).of_node[node]];
  }
  EXPECT_EQ(trays.size(), 3u);
  for (const auto& [domain, count] : trays)
    EXPECT_GE(count, 5) << domain.Raw();  // 20 lanes of 50 GB/s
  scene.request.ring.reset();
  EXPECT_EQ(plan->cost, Solve(scene.cluster.claims, scene.request, scene.graph)->cost);
}

}  // namespace
}  // namespace weft::placement
