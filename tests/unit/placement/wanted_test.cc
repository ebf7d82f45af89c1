#include "operator/placement/wanted.h"

#include <gtest/gtest.h>

#include <set>

#include "operator/placement/place.h"
#include "tests/support/placement_scene.h"

namespace weft::placement {
namespace {

using fabric::NodeIndex;

// A wish to be on none of these nodes.
rules::PodRequirements Avoiding(rules::PodRequirements pod, const fabric::Fabric& fabric,
                                const std::vector<NodeIndex>& nodes) {
  std::vector<rules::PreferredTerm> wishes;
  for (const NodeIndex n : nodes) {
    wishes.push_back({1, {{}, {{"metadata.name", "NotIn", {fabric.node(n).name}}}}});
  }
  pod.preferred = wishes;
  return pod;
}

// Four leaves of eight nodes of eight GPUs.
testing::PlacementScene Scene(std::uint32_t workers) {
  const testing::FreePerNode eight(8, 8);
  return testing::PlacementScene(testing::Leaves({eight, eight, eight, eight}), workers, 8);
}

TEST(OnWantedNodes, LeavesUnwantedNodesIfThatCostsNothing) {
  for (const std::uint32_t workers : {2U, 8U, 14U}) {
    testing::PlacementScene scene = Scene(workers);
    const auto plain = Solve(scene.cluster.claims, scene.request, scene.graph);
    ASSERT_TRUE(plain);
    scene.request.pod = Avoiding(scene.request.pod, *scene.cluster.fabric, {plain->nodes.front()});
    const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->cost, plain->cost) << workers;
    EXPECT_EQ(plan->lower_bound, plain->lower_bound) << workers;
    for (const NodeIndex n : plan->nodes) EXPECT_NE(n, plain->nodes.front()) << workers;
  }
}

TEST(OnWantedNodes, StaysWhereLeavingWouldCostMore) {
  testing::PlacementScene scene = Scene(8);
  std::vector<NodeIndex> one_a_leaf;
  for (const std::uint32_t n : {0U, 8U, 16U, 24U}) one_a_leaf.push_back(NodeIndex{n});
  const auto plain = Solve(scene.cluster.claims, scene.request, scene.graph);
  scene.request.pod = Avoiding(scene.request.pod, *scene.cluster.fabric, one_a_leaf);
  const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph);
  ASSERT_TRUE(plain && plan);
  EXPECT_EQ(plan->cost, plain->cost);
  const auto& leaf = scene.cluster.fabric->domains(scene.tier("leaf")).of_node;
  std::set<fabric::DomainIndex> leaves;
  for (const NodeIndex n : plan->nodes) leaves.insert(leaf[n]);
  EXPECT_EQ(leaves.size(), 1u);
}

TEST(OnWantedNodes, TakesThemIfNothingElseIsThere) {
  testing::PlacementScene scene = Scene(32);
  scene.request.pod = Avoiding(scene.request.pod, *scene.cluster.fabric, {NodeIndex{3}});
  EXPECT_TRUE(Solve(scene.cluster.claims, scene.request, scene.graph));
}

}  // namespace
}  // namespace weft::placement
