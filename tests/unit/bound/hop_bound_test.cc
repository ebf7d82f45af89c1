#include "operator/bound/hop_bound.h"

#include <gtest/gtest.h>

#include "operator/base/quantity.h"
#include "tests/support/placement_scene.h"
#include "tests/support/torus_shape.h"

namespace weft::bound {
namespace {

using testing::PlacementScene;
using traffic::Axis;

constexpr std::int64_t kHop = 1'000;  // what a byte costs for each hop

// A ring of nodes with one GPU each.
testing::FabricShape RingOf(std::uint32_t nodes) {
  testing::FabricShape shape = testing::TorusOf({nodes}, std::vector<bool>(nodes, true));
  for (testing::TestNode& node : shape.nodes) node.accelerators = 1;
  shape.hop_femtoseconds_per_byte = kHop;
  return shape;
}

// In bytes times hops. Experts in one group send each other 100 bytes, a ring over all `ring`.
std::string BoundOfExperts(std::uint32_t experts, std::int64_t ring, std::uint32_t nodes) {
  traffic::Parallelism parallelism;
  parallelism.expert = experts;
  std::vector<traffic::MeasuredAxis> bytes = {{Axis::kExpert, 100 * (std::int64_t{experts} - 1)}};
  if (ring > 0) bytes.push_back({Axis::kData, ring});
  const PlacementScene scene(RingOf(nodes), experts, 1, bytes, parallelism);
  return FormatInt128(HopBound(scene.Prepare()) / kHop);
}

// Of three peers two can be next to a worker, and one two hops away.
TEST(HopBound, HasPeersOnTheNearestPlaces) {
  EXPECT_EQ(BoundOfExperts(4, 0, 8), std::to_string(4 * (200 + 200 + 2 * 200) / 2));
}

// Two of the peers exchange 1,000 more: those are the nearest.
TEST(HopBound, HasThePeersWithTheMostBytesNearest) {
  EXPECT_EQ(BoundOfExperts(4, 1000, 8), std::to_string(4 * (1200 + 1200 + 2 * 200) / 2));
}

// Fifteen peers, too many for pairs: two at each of 1 to 7 hops, the last at 8.
TEST(HopBound, CountsTheMembersOfACliqueToo) {
  EXPECT_EQ(BoundOfExperts(16, 0, 32), std::to_string(16 * 200 * (2 * 28 + 8) / 2));
}

// Places on a ring of four: two at one hop, one at two hops, none further.
TEST(HopBound, OfASmallTorusEndsWhereTheTorusDoes) {
  EXPECT_EQ(BoundOfExperts(4, 0, 4), std::to_string(4 * (200 + 200 + 2 * 200) / 2));
}

// Of three peers two are next to a worker on a ring; on a square of 2 x 2 and one more place along
// a third dimension, all three are.
TEST(HopBound, OfSeveralShapesTakesTheNearestPlacesOfAny) {
  testing::FabricShape shape;
  shape.levels = {{"pod", 40'000}};
  shape.hop_femtoseconds_per_byte = kHop;
  shape.torus_level = "pod";
  shape.torus = {{"", 8, true}, {"", 1, true}, {"", 1, true}};
  shape.torus_shapes = {{{"cube"}, {2, 2, 2}, {}}};
  for (int n = 0; n < 8; ++n) {
    shape.nodes.push_back({.name = "r" + std::to_string(n),
                           .domains = {"ring"},
                           .torus = {n, 0, 0},
                           .accelerators = 1});
    shape.nodes.push_back({.name = "c" + std::to_string(n),
                           .domains = {"cube"},
                           .torus = {n % 2, n / 2 % 2, n / 4},
                           .accelerators = 1});
  }
  traffic::Parallelism parallelism;
  parallelism.expert = 4;
  const PlacementScene scene(shape, 4, 1, {{Axis::kExpert, 300}}, parallelism);
  EXPECT_EQ(FormatInt128(HopBound(scene.Prepare()) / kHop), std::to_string(4 * 3 * 200 / 2));
}

TEST(HopBound, IsNothingWithoutATorus) {
  const PlacementScene scene(testing::Leaves({{8, 8}}), 2, 8);
  EXPECT_EQ(FormatInt128(HopBound(scene.Prepare())), "0");
}

}  // namespace
}  // namespace weft::bound
