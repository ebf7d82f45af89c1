#include "operator/search/even_parts.h"

#include <gtest/gtest.h>

#include "operator/objective/levels.h"
#include "tests/support/placement_scene.h"

namespace weft::search {
namespace {

using testing::PlacementScene;
using traffic::Axis;

// One spine of NVLink domains of these free GPUs, each a leaf; nodes of 4 GPUs. A byte takes 1 in a
// domain and `between` between domains, so that with workers of 4 GPUs a part of `between` / 4
// workers is as fast as the domain.
testing::FabricShape Racks(const testing::FreePerSpine& leaves, std::int64_t between) {
  testing::FabricShape shape = testing::Spines({leaves}, true, 4);
  shape.levels = {{"spine", between * 1'000}, {"leaf", between * 1'000}};
  shape.outside_femtoseconds_per_byte = between * 1'000;
  shape.scale_up_femtoseconds_per_byte = 1'000;
  return shape;
}

PlacementScene Scene(const testing::FabricShape& shape, std::uint32_t workers,
                     const traffic::Parallelism& parallelism = {}, std::uint32_t gpus_each = 4) {
  return PlacementScene(shape, workers, gpus_each,
                        {{Axis::kTensor, 100'000}, {Axis::kData, 1'000'000}}, parallelism);
}

// The nodes of the evened placement; "as it is" if nothing changes. It must not cost more.
std::string Evened(const PlacementScene& scene, const std::vector<std::string>& names) {
  const objective::Instance instance = scene.Prepare();
  const objective::Candidate start = objective::Evaluate(instance, scene.At(names));
  const auto even = EvenParts(instance, start);
  if (!even) return "as it is";
  EXPECT_EQ(even->cost <= start.cost, true);
  EXPECT_LT(objective::BreakTies(instance, even->nodes)[objective::kRingSlowed],
            objective::BreakTies(instance, start.nodes)[objective::kRingSlowed]);
  return scene.Show(even->nodes);
}

const testing::FreePerLeaf kRack = {{4, 4, 4, 4}};

TEST(EvenParts, ATooSmallPartTakesWorkersFromTheLongest) {
  const PlacementScene scene = Scene(Racks({kRack, kRack}, 8), 5);
  EXPECT_EQ(Evened(scene, {"n0", "n1", "n2", "n3", "n4"}), "n0 n1 n2 n4 n5");
  EXPECT_EQ(Evened(scene, {"n4", "n0", "n1", "n2", "n3"}), "n4 n5 n0 n1 n2");
  EXPECT_EQ(Evened(scene, {"n0", "n1", "n2", "n4", "n5"}), "as it is");
}

TEST(EvenParts, PartsAreEqualIfAllAreTooSmall) {
  const PlacementScene scene = Scene(Racks({kRack, kRack}, 64), 6);
  EXPECT_EQ(Evened(scene, {"n0", "n1", "n2", "n3", "n4", "n5"}), "n0 n1 n2 n4 n5 n6");
}

TEST(EvenParts, APartWithoutRoomGoesToTheDomainWithLeastRoomThatIsEnough) {
  const PlacementScene scene = Scene(Racks({kRack, {{4}}, kRack, {{4, 4}}}, 8), 5);
  EXPECT_EQ(Evened(scene, {"n00", "n01", "n02", "n03", "n04"}), "n00 n01 n02 n09 n10");
}

TEST(EvenParts, ADomainFartherFromTheOtherPartsIsNotTaken) {
  testing::FabricShape shape = Racks({kRack, {{4}}, kRack}, 8);
  shape.outside_femtoseconds_per_byte = 16'000;
  for (std::size_t n = 5; n < shape.nodes.size(); ++n) shape.nodes[n].domains[0] = "s1";
  EXPECT_EQ(Evened(Scene(shape, 5), {"n0", "n1", "n2", "n3", "n4"}), "as it is");
}

TEST(EvenParts, TensorGroupsOfTwoNodesStayInOneDomain) {
  traffic::Parallelism tensor;
  tensor.tensor = 8;
  const testing::FreePerLeaf rack = {{4, 4, 4, 4, 4, 4}};
  const PlacementScene scene = Scene(Racks({rack, rack}, 2), 8, tensor);
  EXPECT_EQ(Evened(scene, {"n00", "n01", "n02", "n03", "n04", "n05", "n06", "n07"}),
            "n00 n01 n02 n03 n06 n07 n08 n09");
}

TEST(EvenParts, WorkersThatShareANodeStayOnIt) {
  const testing::FreePerLeaf rack = {{4, 4, 4}};
  const PlacementScene scene = Scene(Racks({rack, rack}, 8), 8, {}, 2);
  EXPECT_EQ(Evened(scene, {"n0", "n0", "n1", "n1", "n2", "n2", "n3", "n3"}),
            "n0 n0 n1 n1 n3 n3 n4 n4");
}

TEST(EvenParts, ADomainThatTheRingEntersTwiceIsLeftAlone) {
  const PlacementScene scene = Scene(Racks({kRack, kRack, kRack}, 64), 6);
  EXPECT_EQ(Evened(scene, {"n00", "n01", "n04", "n02", "n03", "n08"}), "as it is");
}

}  // namespace
}  // namespace weft::search
