#include "operator/search/symmetry.h"

#include <gtest/gtest.h>

#include "tests/support/nodes_of.h"
#include "tests/support/placement_scene.h"

namespace weft::search {
namespace {

using fabric::Tier;
using testing::PlacementScene;

constexpr Tier kSpine{1}, kLeaf{2}, kNode{3};

// The signatures of a tier's domains, numbered by first sight: "0 0 1".
std::string Signatures(const PlacementScene& scene, Tier tier) {
  const objective::Instance instance = scene.Prepare();
  const Symmetry symmetry(instance);
  std::map<std::uint32_t, std::size_t> seen;
  std::string text;
  for (fabric::DomainIndex d{0}; d < instance.fabric().domains(tier).EndIndex(); ++d) {
    const auto number = seen.try_emplace(symmetry.signature(tier, d), seen.size()).first->second;
    text += (text.empty() ? "" : " ") + std::to_string(number);
  }
  return text;
}

// "n0 n1 | n4": the homes.
std::string Representatives(const PlacementScene& scene, std::size_t most = 100) {
  std::string text;
  for (const auto& home : Symmetry(scene.Prepare()).Representatives(most)) {
    text += (text.empty() ? "" : " | ") + scene.Show(home);
  }
  return text;
}

TEST(Symmetry, NodesAreAlikeWithEqualSlotsAndUse) {
  testing::FabricShape shape = testing::Leaves({{8, 8, 4, 8, 8}});
  shape.nodes[3].accelerators = 16;  // eight free, eight in use
  shape.nodes[3].used = 8;
  PlacementScene scene(shape, 2, 4);
  EXPECT_EQ(Signatures(scene, kNode), "0 0 1 2 0");
  scene.request.previous_nodes = testing::WorkersOn({1});
  EXPECT_EQ(Signatures(scene, kNode), "0 1 2 3 0");
}

TEST(Symmetry, NodesOfAnotherScaleUpDomainThatCrossesTheLevelsAreOthers) {
  testing::FabricShape shape;
  shape.scale_up = true;
  shape.nodes = {{.name = "a", .domains = {"s", "l0"}, .scale_up = "v0"},
                 {.name = "b", .domains = {"s", "l0"}, .scale_up = "v1"},
                 {.name = "c", .domains = {"s", "l1"}, .scale_up = "v0"},
                 {.name = "d", .domains = {"s", "l1"}, .scale_up = "v1"}};
  const PlacementScene scene(shape, 2, 8);
  EXPECT_EQ(Signatures(scene, kNode), "0 1 0 1");
  EXPECT_EQ(Signatures(scene, kLeaf), "0 1");
}

TEST(Symmetry, DomainsAreAlikeWithAlikeNodesInAnyOrder) {
  const PlacementScene scene(testing::Leaves({{8, 4}, {4, 8}, {8, 8}, {8, 4, 0}, {4, 4}}), 2, 4);
  // The fourth is in use where the first is too; its full node takes no worker.
  EXPECT_EQ(Signatures(scene, kLeaf), "0 0 1 0 2");
}

TEST(Symmetry, NodesWithoutASlotAreNeverLookedAt) {
  EXPECT_EQ(Representatives(PlacementScene(testing::Leaves({{0, 8}, {3, 8}}), 2, 4)), "n1 n3");
}

TEST(Symmetry, OfLookAlikesAsManyAreLookedAtAsThereAreWorkers) {
  EXPECT_EQ(Representatives(PlacementScene(testing::Leaves({{8, 8, 8, 8}}), 2, 8)), "n0 n1");
  EXPECT_EQ(Representatives(PlacementScene(testing::Leaves({{8, 8, 8, 8}}), 3, 8)), "n0 n1 n2");
  EXPECT_EQ(Representatives(PlacementScene(testing::Leaves({{8, 8, 8, 4}}), 2, 4)), "n0 n1 n3");
  EXPECT_EQ(Representatives(PlacementScene(testing::Leaves({{8, 8}, {8, 8}, {8, 8}}), 2, 8)),
            "n0 n1 n2 n3");
}

TEST(Symmetry, OfLookAlikeHomesOneIsLookedAt) {
  PlacementScene scene(testing::Leaves({{8, 8}, {8, 8}, {8}, {8, 8, 8}}), 2, 8);
  scene.request.required = kLeaf;
  EXPECT_EQ(Representatives(scene), "n0 n1 | n5 n6");  // n4 has no room for both
}

TEST(Symmetry, NothingWhereAHomeHasMoreThanItMay) {
  const PlacementScene scene(testing::Leaves({{8, 8, 8}}), 3, 8);
  EXPECT_EQ(Representatives(scene, 3), "n0 n1 n2");
  EXPECT_EQ(Representatives(scene, 2), "");
}

TEST(MayHold, ANodeWithASlotWhoseHomeHasRoomForTheJob) {
  PlacementScene scene(testing::Leaves({{8, 0}, {8, 8}}), 2, 8);
  const auto which = [&] {
    const objective::Instance instance = scene.Prepare();
    std::string text;
    for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(4))
      text += MayHold(instance, n) ? '1' : '0';
    return text;
  };
  EXPECT_EQ(which(), "1011");
  scene.request.required = kLeaf;
  EXPECT_EQ(which(), "0011");
  scene.request.required = kSpine;
  EXPECT_EQ(which(), "1011");
}

}  // namespace
}  // namespace weft::search
