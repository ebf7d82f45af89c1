#include "operator/objective/ring_rate.h"

#include <gtest/gtest.h>

#include "tests/support/placement_scene.h"

namespace weft::objective {
namespace {

using testing::PlacementScene;
using traffic::Axis;

// Two spines of two leaves of one NVLink domain of three nodes of 4 GPUs: n00 to n02 are v0. A byte
// takes 1 in a domain, 4 between domains of a spine, 8 between spines; workers
// have 4 GPUs.
testing::FabricShape Racks() {
  const testing::FreePerNode rack = {4, 4, 4};
  testing::FabricShape shape = testing::Spines({{{rack}, {rack}}, {{rack}, {rack}}}, true, 4);
  shape.levels = {{"spine", 4'000}, {"leaf", 4'000}};
  shape.outside_femtoseconds_per_byte = 8'000;
  shape.scale_up_femtoseconds_per_byte = 1'000;
  return shape;
}

PlacementScene Scene(std::uint32_t workers, const traffic::Parallelism& parallelism = {},
                     std::vector<traffic::MeasuredAxis> bytes = {{Axis::kData, 1'000'000}},
                     const testing::FabricShape& shape = Racks()) {
  return PlacementScene(shape, workers, 4, std::move(bytes), parallelism);
}

std::optional<std::uint32_t> Percent(const PlacementScene& scene,
                                     const std::vector<std::string>& names) {
  const Instance instance = scene.Prepare();
  ByWorker<fabric::NodeIndex> nodes;
  for (const std::string& name : names) {
    nodes.push_back(name == "-" ? kUnplaced : scene.cluster.node(name));
  }
  return RingPercent(instance, nodes);
}

TEST(RingPercent, IsThatOfTheSmallestPart) {
  const PlacementScene scene = Scene(4);
  EXPECT_EQ(Percent(scene, {"n00", "n01", "n03", "n04"}),
            100u);  // 8 lanes over a link of a quarter
  EXPECT_EQ(Percent(scene, {"n00", "n01", "n02", "n03"}), 100u);  // 4 lanes
  EXPECT_EQ(Percent(scene, {"n00", "n01", "n02", "n06"}), 200u);  // 4 lanes over an eighth
  EXPECT_EQ(Percent(scene, {"n00", "n01", "n06", "n07"}), 100u);  // 8 lanes
  EXPECT_EQ(Percent(Scene(3), {"n00", "n01", "n02"}), 0u);        // all in one domain
}

TEST(RingPercent, SharesTheLanesOfADomainAmongTheExitsOfTheRing) {
  const PlacementScene scene = Scene(4);
  EXPECT_EQ(Percent(scene, {"n00", "n03", "n01", "n04"}), 100u);  // 8 lanes, 2 exits
  EXPECT_EQ(Percent(scene, {"n00", "n06", "n01", "n07"}), 200u);
}

TEST(RingPercent, IsOfOneGroupWhereTensorGroupsDivideTheRing) {
  traffic::Parallelism tensor = traffic::Parallelism{};
  tensor.tensor = 8;  // two nodes; eight rings of a member for each two nodes
  const std::vector<traffic::MeasuredAxis> bytes = {{Axis::kTensor, 1000}, {Axis::kData, 1000}};
  EXPECT_EQ(Percent(Scene(4, tensor, bytes), {"n00", "n01", "n03", "n04"}), 400u);
}

TEST(RingPercent, OfAPartialPlacementIsABound) {
  const PlacementScene scene = Scene(4);
  EXPECT_EQ(Percent(scene, {"n00", "n01", "-", "n06"}), 100u);  // n06 may get the third
  EXPECT_EQ(Percent(scene, {"n00", "n01", "n02", "-"}), 0u);
  EXPECT_EQ(Percent(scene, {"-", "-", "-", "-"}), 0u);
  EXPECT_EQ(Percent(scene, {"n00", "n06", "n01", "-"}), 100u);
}

TEST(RingPercent, NeedsARingAndAFasterNetworkThatNests) {
  PlacementScene scene = Scene(2);
  scene.request.ring.reset();
  EXPECT_EQ(Percent(scene, {"n00", "n03"}), std::nullopt);
  testing::FabricShape shape = Racks();
  shape.scale_up_requires = fabric::ScaleUpRequires::kComputeDomain;  // the job claims none
  const std::vector<traffic::MeasuredAxis> data = {{Axis::kData, 1000}};
  EXPECT_EQ(Percent(Scene(2, {}, data, shape), {"n00", "n03"}), std::nullopt);
  EXPECT_EQ(Percent(Scene(2, {}, data, testing::Leaves({{4}, {4}}, 4)), {"n0", "n1"}),
            std::nullopt);
  shape = Racks();
  shape.nodes[0].scale_up = "v3";  // crosses the levels
  EXPECT_EQ(Percent(Scene(2, {}, data, shape), {"n00", "n03"}), std::nullopt);
}

}  // namespace
}  // namespace weft::objective
