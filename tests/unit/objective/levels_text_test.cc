// What people are told about the levels of the objective.
#include <gtest/gtest.h>

#include "operator/objective/levels.h"
#include "tests/support/placement_scene.h"

namespace weft::objective {
namespace {

using testing::PlacementScene;
using testing::WorkerSetsOf;

using Sentences = std::vector<std::string>;

constexpr fabric::Tier kLeaf{2}, kNode{3};

// One spine; leaf l0 of n0 and n1, leaf l1 of n2 and n3, which is half in use. Workers of 4 GPUs.
PlacementScene Halves(std::uint32_t workers = 2) {
  return PlacementScene(testing::Leaves({{8, 8}, {8, 4}}), workers, 4);
}

Sentences Said(const PlacementScene& scene, const std::vector<std::string>& nodes) {
  const Instance instance = scene.Prepare();
  return Describe(instance, Evaluate(instance, scene.At(nodes)));
}

TEST(Describe, SaysWhichFreeDomainsAreBrokenUp) {
  EXPECT_EQ(Said(Halves(1), {"n3"}), (Sentences{"No wholly free domain is broken up."}));
  EXPECT_EQ(Said(Halves(), {"n0", "n0"}),
            (Sentences{"Wholly free domains that it uses: 1 leaf, 1 node."}));
  EXPECT_EQ(Said(Halves(), {"n0", "n2"}),
            (Sentences{"Wholly free domains that it uses: 1 leaf, 2 node."}));
  EXPECT_EQ(Said(Halves(), {"n2", "n3"}), (Sentences{"Wholly free domains that it uses: 1 node."}));
}

TEST(Describe, SaysHowFarThePreferencesAreMet) {
  PlacementScene scene = Halves();
  scene.request.preferred = kLeaf;
  EXPECT_EQ(Said(scene, {"n2", "n3"}).front(),
            "topology.preferred holds: all workers are in one leaf.");
  EXPECT_EQ(Said(scene, {"n1", "n3"}).front(),
            "The placement is 1 level wider than topology.preferred, leaf.");
  scene.request.preferred = kNode;
  EXPECT_EQ(Said(scene, {"n1", "n3"}).front(),
            "The placement is 2 levels wider than topology.preferred, node.");
  scene.request.preferred.reset();
  scene.request.groups = {{WorkerSetsOf({{0, 1}}), std::nullopt, kNode}};
  EXPECT_EQ(Said(scene, {"n2", "n3"}).front(),
            "1 group of workers does not share the level that topology.groups prefers.");
  EXPECT_EQ(Said(scene, {"n2", "n2"}).size(), 1u);
  PlacementScene two = Halves(4);
  two.request.groups = {{WorkerSetsOf({{0, 1}, {2, 3}}), std::nullopt, kNode}};
  EXPECT_EQ(Said(two, {"n0", "n1", "n0", "n1"}).front(),
            "2 groups of workers do not share the level that topology.groups prefers.");
}

TEST(Describe, SaysHowManyWorkersLeaveTheNodesOfTheLastAttempt) {
  PlacementScene scene = Halves();
  scene.request.previous_nodes = scene.At({"n0", "n1"});
  EXPECT_EQ(Said(scene, {"n1", "n1"}).front(), "All workers are on nodes of the last attempt.");
  EXPECT_EQ(Said(scene, {"n0", "n2"}).front(),
            "1 of 2 workers is on nodes that the last attempt did not use.");
  EXPECT_EQ(Said(scene, {"n2", "n2"}).front(),
            "2 of 2 workers are on nodes that the last attempt did not use.");
}

std::string Why(const PlacementScene& scene, const std::vector<std::string>& other,
                const std::vector<std::string>& chosen) {
  const Instance instance = scene.Prepare();
  return WhyWorse(instance, Evaluate(instance, scene.At(other)),
                  Evaluate(instance, scene.At(chosen)));
}

TEST(WhyWorse, NamesTheFirstLevelThatDecidesAndByHowMuch) {
  PlacementScene scene = Halves();
  scene.request.previous_nodes = scene.At({"n0", "n1"});
  EXPECT_EQ(Why(scene, {"n2", "n2"}, {"n0", "n0"}),
            "costs no more, but puts 2 more workers on nodes that the last attempt did not use");
  EXPECT_EQ(Why(scene, {"n2", "n3"}, {"n0", "n1"}),
            "costs no more, but puts 2 more workers on nodes that the last attempt did not use");
  EXPECT_EQ(Why(scene, {"n1", "n0"}, {"n0", "n1"}),
            "costs no more, but puts 2 more workers on another node than in the last attempt");
  PlacementScene groups = Halves();
  groups.request.groups = {{WorkerSetsOf({{0, 1}}), std::nullopt, kNode}};
  EXPECT_EQ(Why(groups, {"n0", "n1"}, {"n0", "n0"}), "1 more group would miss the preferred level");
  // A ring of three on one leaf crosses the leaf's links three times, and on two leaves twice more
  // weight for two of its three edges.
  const PlacementScene ring = PlacementScene(testing::Leaves({{4, 4, 4}, {4}}), 3, 4,
                                             {{traffic::Axis::kData, 1'000'000'000}});
  EXPECT_EQ(Why(ring, {"n0", "n1", "n3"}, {"n0", "n1", "n2"}),
            "costs 67 % more (40 ms of link time)");
}

// One leaf of two NVLink domains of three nodes of 4 GPUs, n0 to n2 and n3 to n5. A part of two
// nodes is as fast as a domain inside, one of one node takes twice as long.
TEST(Levels, SayHowMuchTheSmallestPartOfARingSlowsIt) {
  testing::FabricShape shape = testing::Spines({{{{4, 4, 4}, {4, 4, 4}}}}, true, 4);
  shape.levels = {{"spine", 8'000}, {"leaf", 8'000}};
  shape.scale_up_femtoseconds_per_byte = 1'000;
  const PlacementScene scene(shape, 4, 4, {{traffic::Axis::kData, 1'000'000}});
  EXPECT_EQ(Said(scene, {"n0", "n1", "n3", "n4"}).front(),
            "Its ring is as fast between nvlink domains as inside one.");
  EXPECT_EQ(
      Said(scene, {"n0", "n1", "n2", "n3"}).front(),
      "Its ring takes 200 % of the time that it would take in one nvlink domain: its smallest "
      "part has too few GPUs to send faster.");
  EXPECT_EQ(Why(scene, {"n0", "n1", "n2", "n3"}, {"n0", "n1", "n3", "n4"}),
            "costs no more, but has a smaller part of the ring in one nvlink domain, which slows "
            "the ring by 100 % of its time inside one domain");
}

// Two leaves of two nodes of 8 GPUs, half of n3 in use, with links of equal speed.
TEST(Levels, SayWhichShareOfTheBytesLeavesALevelAtNoExtraCost) {
  testing::FabricShape shape = testing::Leaves({{8, 8}, {8, 4}});
  shape.levels = {{"spine", 20'000}, {"leaf", 20'000}};
  const PlacementScene scene(shape, 3, 8, {{traffic::Axis::kData, 1'000'000}});
  EXPECT_EQ(Said(scene, {"n0", "n1", "n2"}).front(),
            "Of the bytes between its workers 66.7 % leave their leaf, at no extra cost.");
  const PlacementScene two(shape, 2, 8, {{traffic::Axis::kData, 1'000'000}});
  EXPECT_EQ(Why(two, {"n1", "n2"}, {"n0", "n1"}),
            "costs no more, but sends 100 % more of the bytes between its workers out of their "
            "leaf");
  EXPECT_EQ(Said(two, {"n0", "n1"}),
            (Sentences{"Wholly free domains that it uses: 1 leaf, 2 node."}));
}

TEST(CostLimit, IsTheLeastAndSoManyPercentRoundedDown) {
  EXPECT_EQ(static_cast<int>(CostLimit(1000, 1)), 1010);
  EXPECT_EQ(static_cast<int>(CostLimit(199, 1)), 200);
  EXPECT_EQ(static_cast<int>(CostLimit(99, 1)), 99);
  EXPECT_EQ(static_cast<int>(CostLimit(55, 20)), 66);
  EXPECT_EQ(static_cast<int>(CostLimit(55, 0)), 55);
  EXPECT_EQ(static_cast<int>(CostLimit(1099, 100)), 2198);
}

TEST(CompareTies, GoesByValuesThenByTheNamesThatBothHave) {
  testing::FabricShape shape = testing::Leaves({{8, 8, 8}});
  shape.nodes[0].name = "z";  // the node of index 0 in a tree by names is another
  const PlacementScene scene(shape, 2, 8);
  const fabric::Fabric& fabric = *scene.cluster.fabric;
  const TieBreakers low = {{{}, {}, {1}, {0}}}, high = {{{}, {}, {1}, {2}}};
  const auto n1_z = scene.At({"n1", "z"}), n2_n1 = scene.At({"n2", "n1"});
  auto open = n1_z;
  open[WorkerIndex{0}] = kUnplaced;
  EXPECT_EQ(CompareTies(fabric, {&low, n2_n1}, {&high, n1_z}), std::strong_ordering::less);
  EXPECT_EQ(CompareTies(fabric, {&high, n1_z}, {&low, n2_n1}), std::strong_ordering::greater);
  EXPECT_EQ(CompareTies(fabric, {&low, n1_z}, {&low, n2_n1}), std::strong_ordering::less);
  EXPECT_EQ(CompareTies(fabric, {&low, n2_n1}, {&low, n1_z}), std::strong_ordering::greater);
  EXPECT_EQ(CompareTies(fabric, {&low, n1_z}, {&low, n1_z}), std::strong_ordering::equal);
  EXPECT_EQ(CompareTies(fabric, {&low, open}, {&low, n2_n1}), std::strong_ordering::equal);
}

}  // namespace
}  // namespace weft::objective
