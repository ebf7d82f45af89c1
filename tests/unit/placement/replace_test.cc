// Worked examples of a gang that lost workers. Figures by brute force over all assignments of the
// ring's workers (one byte from each worker to the next; 20,000 fs per byte inside a leaf, 40,000
// across the spine).
#include "operator/placement/replace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "operator/objective/instance.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/placement_scene.h"

namespace weft::placement {
namespace {

using fabric::NodeIndex;
using weft::testing::FabricShape;
using weft::testing::PlacementScene;
using weft::testing::TestNode;

struct Rack {
  std::string name;
  std::vector<std::string> nodes;
};

// Nodes of one GPU in racks (or leaves) of one spine; those of `used` belong to other jobs.
FabricShape ShapeOf(const std::string& level, const std::vector<Rack>& racks,
                    const std::vector<std::string>& used) {
  FabricShape shape;
  shape.levels = {{"spine", 40'000}, {level, 20'000}};
  shape.scale_up = false;
  for (const Rack& rack : racks) {
    for (const std::string& name : rack.nodes) {
      TestNode node;
      node.name = name;
      node.domains = {"s1", rack.name};
      node.accelerators = 1;
      node.used = std::count(used.begin(), used.end(), name) > 0 ? 1 : 0;
      shape.nodes.push_back(std::move(node));
    }
  }
  return shape;
}

const Rack kFullLeaf = {"l1", {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"}};
const std::vector<std::string> kGang = kFullLeaf.nodes;

// The gang on its nodes; those of the failed workers are lost.
struct Scene : PlacementScene {
  Scene(const FabricShape& shape, const std::vector<std::string>& gang,
        const std::vector<std::uint32_t>& failed)
      : PlacementScene(shape, static_cast<std::uint32_t>(gang.size()), 1) {
    loss.nodes = At(gang);
    for (const std::uint32_t w : failed) {
      loss.failed.emplace_back(w);
      request.excluded.push_back(loss.nodes[WorkerIndex(w)]);
    }
    std::sort(request.excluded.begin(), request.excluded.end());
    request.previous_nodes = loss.nodes;
  }

  ReplaceAnswer Answer() const { return Replace(cluster.claims, request, graph, loss); }

  Loss loss;
};

std::string Workers(const std::vector<WorkerIndex>& workers) {
  std::string text;
  for (const WorkerIndex w : workers) text += (text.empty() ? "" : " ") + std::to_string(w.Raw());
  return text;
}

void ExpectReplaced(const Scene& scene, const std::string& nodes, const std::string& moved,
                    std::int64_t cost) {
  const ReplaceAnswer answer = scene.Answer();
  const auto* replaced = std::get_if<Replaced>(&answer);
  ASSERT_NE(replaced, nullptr);
  EXPECT_EQ(scene.Show(replaced->placement.nodes.Items()), nodes);
  EXPECT_EQ(Workers(replaced->moved), moved);
  EXPECT_EQ(static_cast<std::int64_t>(replaced->placement.cost), cost);
  EXPECT_TRUE(replaced->exact);
}

TEST(Replace, TakesTheFreeNodeOfTheLostWorkersLeaf) {
  const Rack leaf = {"l1", {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"}};
  const Scene scene(ShapeOf("leaf", {leaf, {"l2", {"b1", "b2", "b3", "b4"}}}, {"b3", "b4"}), kGang,
                    {3});
  ExpectReplaced(scene, "a1 a2 a3 a9 a5 a6 a7 a8", "3", 160'000);
}

TEST(Replace, CrossesTheSpineIfTheLeafHasNoFreeNode) {
  const Scene scene(ShapeOf("leaf", {kFullLeaf, {"l2", {"b1", "b2", "b3", "b4"}}}, {"b3", "b4"}),
                    kGang, {3});
  ExpectReplaced(scene, "a1 a2 a3 b1 a5 a6 a7 a8", "3", 200'000);
}

TEST(Replace, PlacesSeveralLostWorkersTogether) {
  const Scene scene(ShapeOf("leaf", {kFullLeaf, {"l2", {"b1", "b2", "b3", "b4"}}}, {"b4"}), kGang,
                    {2, 5});
  ExpectReplaced(scene, "a1 a2 b1 a4 a5 b2 a7 a8", "2 5", 240'000);
}

// Two groups of two workers, each required inside one rack, lose one worker each.
struct TwoGroups : Scene {
  TwoGroups(const std::vector<Rack>& racks)
      : Scene(ShapeOf("rack", racks, {"n3"}), {"n1", "n2", "n4", "n5"}, {0, 2}) {
    request.groups.push_back({weft::testing::WorkerSetsOf({{0, 1}, {2, 3}}), tier("rack"), {}});
  }
};
const std::vector<Rack> kTwoRacks = {{"r1", {"n1", "n2", "n3"}}, {"r2", {"n4", "n5", "n6"}}};

// kubernetes-sigs/kueue#12344: the first failed node blocks the second there.
TEST(Replace, AGroupWithoutASpareDoesNotStarveAnother) {
  const TwoGroups scene(kTwoRacks);
  const ReplaceAnswer answer = scene.Answer();
  const auto* no = std::get_if<Recreate>(&answer);
  ASSERT_NE(no, nullptr);
  ASSERT_EQ(no->held.size(), 1U);
  EXPECT_EQ(no->held[0].worker, WorkerIndex{2});
  EXPECT_EQ(no->held[0].node, scene.cluster.node("n6"));
  ASSERT_EQ(no->blocked.size(), 1U);
  EXPECT_EQ(no->blocked[0].worker, WorkerIndex{0});
  EXPECT_EQ(no->blocked[0].tier, scene.tier("rack"));
  EXPECT_EQ(no->blocked[0].domain, scene.DomainOf("rack", "n1"));
  EXPECT_EQ(ReasonName(no->blocked[0].reason), "NoSpareInDomain");
}

TEST(Replace, AGroupWithoutASpareMovesWholeWhileTheOtherStays) {
  std::vector<Rack> racks = kTwoRacks;
  racks.push_back({"r3", {"n7", "n8"}});
  const TwoGroups scene(racks);
  const ReplaceAnswer answer = scene.Answer();
  const auto* replaced = std::get_if<Replaced>(&answer);
  ASSERT_NE(replaced, nullptr);
  EXPECT_EQ(scene.Show(replaced->placement.nodes.Items()), "n7 n8 n6 n5");
  EXPECT_EQ(Workers(replaced->moved), "0 1 2");
  EXPECT_EQ(replaced->groups_moved, 1U);
}

// The label of a node changed while the second group ran.
TEST(Replace, AGroupThatMissesItsRuleAlreadyStaysAsItIs) {
  Scene scene(
      ShapeOf("rack", {{"r1", {"n1", "n2", "n3"}}, {"r2", {"n4"}}, {"r3", {"n5", "n6"}}}, {}),
      {"n1", "n2", "n4", "n5"}, {0});
  scene.request.groups.push_back(
      {weft::testing::WorkerSetsOf({{0, 1}, {2, 3}}), scene.tier("rack"), {}});
  const ReplaceAnswer answer = scene.Answer();
  const auto* replaced = std::get_if<Replaced>(&answer);
  ASSERT_NE(replaced, nullptr);
  EXPECT_EQ(scene.Show(replaced->placement.nodes.Items()), "n3 n2 n4 n5");
}

TEST(Replace, AWorkerThatStaysHoldsTheOnlyComputeDomainChannelOfItsNode) {
  FabricShape shape = ShapeOf("leaf", {{"l1", {"a1", "a2"}}}, {});
  shape.nodes[0].accelerators = 2;
  Scene scene(shape, {"a1", "a2"}, {1});
  ASSERT_TRUE(std::holds_alternative<Replaced>(scene.Answer()));
  scene.request.pod.claims_compute_domain = true;
  EXPECT_TRUE(std::holds_alternative<Recreate>(scene.Answer()));
}

// Leaf l3 has one worker less than the others after the loss, so the replacement goes there, though
// l1 is as near.
TEST(Replace, KeepsTheSkewOfASpread) {
  FabricShape shape = ShapeOf(
      "leaf", {{"l1", {"a1", "a2", "a3"}}, {"l2", {"b1", "b2"}}, {"l3", {"c1", "c2", "c3"}}}, {});
  for (weft::testing::TestNode& node : shape.nodes) node.labels["zone"] = node.domains[1];
  Scene scene(shape, {"a1", "a2", "b1", "b2", "c1", "c2"}, {5});
  fabric::PodTerms terms;
  terms.spread = {{"zone", 1, 1, fabric::LabelSelector{{{"app", "train"}}, {}}}};
  scene.request.pod.labels.Set("app", "train");
  scene.request.pod.terms = terms;
  const Replacer replacer(scene.cluster.claims, scene.request, scene.graph, scene.loss);
  const auto only = replacer.Solve(scene.loss.failed);
  ASSERT_TRUE(only);
  EXPECT_EQ(scene.Show(only->best.nodes.Items()), "a1 a2 b1 b2 c1 c3");
}

// Fewer nodes than lost workers: the first ones get them.
TEST(Replace, ServesTheFirstOfManyLostWorkers) {
  std::vector<Rack> leaves = {{"l1", {}}, {"l2", {"b1", "b2"}}};
  std::vector<std::uint32_t> failed;
  for (std::uint32_t w = 0; w < 40; ++w) {
    leaves[0].nodes.push_back("a" + std::to_string(100 + w));
    if (w > 0) failed.push_back(w);
  }
  const Scene scene(ShapeOf("leaf", leaves, {}), leaves[0].nodes, failed);
  const ReplaceAnswer answer = scene.Answer();
  const auto* no = std::get_if<Recreate>(&answer);
  ASSERT_NE(no, nullptr);
  ASSERT_EQ(no->held.size(), 2U);
  EXPECT_EQ(no->held[0].worker, WorkerIndex{1});
  EXPECT_EQ(no->held[1].worker, WorkerIndex{2});
  EXPECT_EQ(no->blocked.size(), 37U);
  EXPECT_EQ(no->blocked[0].worker, WorkerIndex{3});
  EXPECT_FALSE(no->too_many);
}

}  // namespace
}  // namespace weft::placement
