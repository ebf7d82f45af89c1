#include "operator/objective/wide_bytes.h"

#include <gtest/gtest.h>

#include "operator/placement/place.h"
#include "tests/support/placement_scene.h"

namespace weft::objective {
namespace {

using testing::PlacementScene;
using traffic::Axis;
using Shares = std::vector<std::uint32_t>;

// Two spines of two leaves of two nodes of 8 GPUs: l0 holds n0 and n1. All links are equally fast
// except those given, in femtoseconds per byte.
testing::FabricShape Flat(std::int64_t outside = 20'000, std::int64_t spine = 20'000) {
  const testing::FreePerLeaf leaf = {{8, 8}};
  testing::FabricShape shape = testing::Spines({{leaf, leaf}, {leaf, leaf}}, false);
  shape.outside_femtoseconds_per_byte = outside;
  shape.levels = {{"spine", spine}, {"leaf", 20'000}};
  return shape;
}

// Workers of 8 GPUs, each of which sends to the next.
PlacementScene Ring(const testing::FabricShape& shape, std::uint32_t workers) {
  return PlacementScene(shape, workers, 8, {{Axis::kData, 1'000'000'000}});
}

Shares At(const PlacementScene& scene, const std::vector<std::string>& names) {
  const Instance instance = scene.Prepare();
  ByWorker<fabric::NodeIndex> nodes;
  for (const std::string& name : names) {
    nodes.push_back(name == "-" ? kUnplaced : scene.cluster.node(name));
  }
  return WideBytes(instance, nodes);
}

TEST(WideBytes, IsTheShareThatLeavesEachLevelWidestFirst) {
  const PlacementScene scene = Ring(Flat(), 4);
  EXPECT_EQ(At(scene, {"n0", "n1", "n2", "n3"}), (Shares{0, 500'000}));
  EXPECT_EQ(At(scene, {"n0", "n2", "n1", "n3"}), (Shares{0, 1'000'000}));
  EXPECT_EQ(At(scene, {"n0", "n1", "n4", "n5"}), (Shares{500'000, 500'000}));
  EXPECT_EQ(At(Ring(Flat(), 3), {"n0", "n1", "n2"}), (Shares{0, 666'667}));
}

TEST(WideBytes, CountsOnlyLevelsThatCostNothingExtraToLeave) {
  const std::vector<std::string> names = {"n0", "n2", "n4"};
  EXPECT_EQ(At(Ring(Flat(40'000), 3), names), Shares{1'000'000});        // leaf
  EXPECT_EQ(At(Ring(Flat(40'000, 40'000), 3), names), Shares{666'667});  // spine
  EXPECT_EQ(At(Ring(Flat(10'000, 20'000), 3), names), (Shares{666'667, 1'000'000}));
  EXPECT_EQ(At(Ring(Flat(80'000, 40'000), 3), names), Shares{});
}

TEST(WideBytes, OfAPartialPlacementIsABound) {
  const PlacementScene scene = Ring(Flat(), 4);
  EXPECT_EQ(At(scene, {"n0", "-", "n4", "-"}), (Shares{0, 0}));
  EXPECT_EQ(At(scene, {"n0", "n2", "-", "-"}), (Shares{0, 250'000}));
  EXPECT_EQ(At(scene, {"-", "-", "-", "-"}), (Shares{0, 0}));
}

// An all-to-all of four workers has six pairs.
TEST(WideBytes, CountsThePairsOfACliqueInDifferentDomains) {
  traffic::Parallelism parallelism;
  parallelism.expert = 32;
  const PlacementScene scene(Flat(), 4, 8, {{Axis::kExpert, 1'000'000'000}}, parallelism);
  EXPECT_EQ(At(scene, {"n0", "n1", "n2", "n3"}), (Shares{0, 666'667}));
  EXPECT_EQ(At(scene, {"n0", "n1", "n2", "n4"}), (Shares{500'000, 833'334}));
  EXPECT_EQ(At(scene, {"n0", "n1", "n2", "-"}), (Shares{0, 333'334}));
}

TEST(WideBytes, LeavesOutWhatANetworkBesideTheLevelsCarries) {
  testing::FabricShape shape = Flat();
  shape.planes = {{"plane", 10'000}};
  for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
    shape.nodes[n].labels["test/plane"] = n % 2 == 0 ? "even" : "odd";
  }
  const PlacementScene scene = Ring(shape, 3);
  EXPECT_EQ(At(scene, {"n0", "n2", "n4"}), (Shares{0, 0}));
  EXPECT_EQ(At(scene, {"n0", "n3", "n4"}), (Shares{333'334, 666'667}));
  traffic::Parallelism parallelism;
  parallelism.expert = 24;
  const PlacementScene clique(shape, 3, 8, {{Axis::kExpert, 1'000'000'000}}, parallelism);
  EXPECT_EQ(At(clique, {"n0", "n3", "n4"}), (Shares{333'334, 666'667}));
}

TEST(WideBytes, IsNothingForAJobThatSendsNothing) {
  EXPECT_EQ(At(Ring(Flat(), 1), {"n0"}), (Shares{0, 0}));
}

// Three leaves with 2, 3 and 4 free nodes, three of which would fit without breaking up a free
// leaf. Five workers go where the fewest links between leaves carry them.
TEST(WideBytes, PlacesAJobOnTheFewestLeavesWhereAllLinksAreEquallyFast) {
  const testing::FreePerSpine leaves = {{{8, 8, 0, 0}}, {{8, 8, 8, 0}}, {{8, 8, 8, 8}}};
  testing::FabricShape shape = testing::Spines({leaves}, false);
  shape.outside_femtoseconds_per_byte = 20'000;
  shape.levels = {{"spine", 20'000}, {"leaf", 20'000}};
  for (const std::uint32_t workers : {3U, 4U, 5U, 7U}) {
    const PlacementScene scene = Ring(shape, workers);
    const auto plan = placement::Solve(scene.cluster.claims, scene.request, scene.graph);
    ASSERT_TRUE(plan.has_value());
    const Instance instance = scene.Prepare();
    const Shares shares = WideBytes(instance, plan->nodes);
    const std::uint32_t cuts = workers <= 4 ? 0 : 2;
    EXPECT_EQ(shares, Shares{(1'000'000 * cuts + workers - 1) / workers})
        << scene.Show(plan->nodes);
  }
}

}  // namespace
}  // namespace weft::objective
