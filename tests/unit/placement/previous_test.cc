// Restarts: the nodes of the last attempt stay preferred within the cost tolerance.
#include "operator/placement/previous.h"
#include "operator/objective/levels.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "operator/objective/instance.h"
#include "operator/placement/place.h"
#include "tests/support/campaign.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/large_instance.h"
#include "tests/support/placement_scene.h"
#include "tests/support/random_instance.h"

namespace weft::placement {
namespace {

using fabric::NodeIndex;
using objective::kUnplaced;
using weft::testing::Family;

Plan Solved(const weft::testing::RandomInstance& instance, const objective::Options& options = {}) {
  std::optional<Plan> plan = Solve(*instance.claims, instance.request, *instance.graph, options);
  EXPECT_TRUE(plan) << instance.what;
  return plan ? *std::move(plan) : Plan{};
}

std::uint32_t Moved(const weft::testing::RandomInstance& instance, const Plan& plan) {
  const objective::Instance prepared(*instance.claims, instance.request, *instance.graph);
  return objective::BreakTies(prepared, plan.nodes)[objective::kWorkersMoved].front();
}

constexpr weft::testing::LargeOptions kSizes = {
    .fewest_nodes = 1000, .most_nodes = 2000, .fewest_workers = 64, .most_workers = 256};

// The least cost of the placement with the workers of node `lost` on any one other node.
Int128 CostWithout(const weft::testing::RandomInstance& instance, const Plan& plan,
                   NodeIndex lost) {
  const objective::Instance prepared(*instance.claims, instance.request, *instance.graph);
  fabric::ByNode<std::uint32_t> left(prepared.slots().begin(), prepared.slots().end());
  for (NodeIndex n : plan.nodes) left[n] -= n == lost ? 0 : 1;
  const auto displaced =
      static_cast<std::uint32_t>(std::count(plan.nodes.begin(), plan.nodes.end(), lost));
  Int128 least = -1;
  for (const NodeIndex n : left.Indices()) {
    if (left[n] < displaced) continue;
    ByWorker<NodeIndex> nodes = plan.nodes;
    std::replace(nodes.begin(), nodes.end(), lost, n);
    const objective::Candidate candidate = objective::Evaluate(prepared, std::move(nodes));
    if (candidate.preferences > plan.preferences) continue;
    if (least < 0 || candidate.cost < least) least = candidate.cost;
  }
  return least;
}

class RestartTest : public ::testing::TestWithParam<Family> {};

// The node of one worker is lost. Where another node for it costs no more than the tolerance, the
// workers of all other nodes stay.
TEST_P(RestartTest, OnlyTheWorkersOfALostNodeMoveWhereThatCostsNoMore) {
  int kept = 0;
  for (std::uint64_t seed = 600; seed < 606; ++seed) {
    auto instance = weft::testing::MakeLargeInstance(GetParam(), seed, kSizes);
    const Plan before = Solved(instance);
    const NodeIndex lost = before.nodes[WorkerIndex::Of(before.nodes.size() / 2)];
    instance.request.excluded = {lost};
    const Plan anew = Solved(instance);
    instance.request.previous_nodes = before.nodes;
    std::replace(instance.request.previous_nodes.begin(), instance.request.previous_nodes.end(),
                 lost, kUnplaced);
    const Plan after = Solved(instance);
    EXPECT_LE(after.preferences, anew.preferences) << instance.what;
    EXPECT_LE(after.cost, objective::CostLimit(anew.cost, 1)) << instance.what;
    // What the search found before can only be better than what it chose for staying.
    const Int128 least = CostWithout(instance, before, lost);
    const bool stays =
        Moved(instance, after) <= std::count(before.nodes.begin(), before.nodes.end(), lost);
    kept += stays ? 1 : 0;
    EXPECT_TRUE(stays || least < 0 || least > after.cost) << instance.what;
  }
  EXPECT_GE(kept, 1);
}

INSTANTIATE_TEST_SUITE_P(Families, RestartTest,
                         ::testing::Values(Family::kExpertsPreferRack, Family::kHybridSharding,
                                           Family::kFullSharding, Family::kUnevenRacks,
                                           Family::kSeveralANode, Family::kGrid, Family::kRails,
                                           Family::kCrossing));

// Without a last attempt, and with one of which no node is left, answers are what they were.
TEST(Previous, NoNodeLeftChangesNothing) {
  for (std::uint64_t seed = 1; seed <= weft::testing::Instances(100); ++seed) {
    auto instance = weft::testing::MakeRandomInstance(seed, {});
    const auto plain = Solve(*instance.claims, instance.request, *instance.graph);
    instance.request.previous_nodes.assign(instance.request.workers, kUnplaced);
    const auto restarted = Solve(*instance.claims, instance.request, *instance.graph);
    ASSERT_EQ(plain.has_value(), restarted.has_value()) << instance.what;
    if (!plain) continue;
    EXPECT_EQ(plain->nodes, restarted->nodes) << instance.what;
  }
}

// Whatever stood there before: the same placement costs the same, so it is kept, worker by worker.
TEST(Previous, NothingMovesWhereNothingChanged) {
  for (std::uint64_t seed = 1; seed <= weft::testing::Instances(100); ++seed) {
    auto instance = weft::testing::MakeRandomInstance(seed, {});
    const auto plain = Solve(*instance.claims, instance.request, *instance.graph);
    if (!plain) continue;
    instance.request.previous_nodes = plain->nodes;
    EXPECT_EQ(Solved(instance).nodes, plain->nodes) << instance.what;
  }
}

// One leaf of four nodes, free but for what `used` says; a second leaf of as many.
struct Scene {
  explicit Scene(std::vector<std::vector<int>> free)
      : cluster(testing::MakeCluster(testing::Leaves(free))) {
    request.workers = 2;
    request.pod.requests = {{"nvidia.com/gpu", 8}};
  }
  std::vector<std::string> Names(const objective::Options& options = {}) const {
    const auto plan = Solve(cluster.claims, request, graph, options);
    std::vector<std::string> names;
    for (NodeIndex n : plan->nodes) names.push_back(cluster.fabric->node(n).name);
    return names;
  }
  testing::Cluster cluster;
  objective::Request request;
  traffic::WorkerGraph graph{*traffic::ComputeTraffic(std::nullopt, {}, 2, 8)};
};

TEST(Previous, AWorkerKeepsItsNodeAndTheOtherComesToIt) {
  Scene scene({{8, 8, 8}, {8, 8, 8}});
  EXPECT_EQ(scene.Names(), (std::vector<std::string>{"n0", "n1"}));
  scene.request.previous_nodes = {kUnplaced, scene.cluster.node("n4")};
  EXPECT_EQ(scene.Names(), (std::vector<std::string>{"n3", "n4"}));
}

TEST(Previous, WorkersMoveWhereTheirNodesCostMoreThanTheTolerance) {
  Scene scene({{8, 8, 0}, {8, 0, 0}});
  scene.request.previous_nodes = {scene.cluster.node("n3"), kUnplaced};
  EXPECT_EQ(scene.Names(), (std::vector<std::string>{"n0", "n1"}));
  objective::Options tolerant;
  tolerant.cost_tolerance_percent = 100;  // a spine's link costs twice a leaf's
  EXPECT_EQ(scene.Names(tolerant), (std::vector<std::string>{"n3", "n0"}));
}

// A ring of 24 workers on two leaves of twelve nodes, from the sixth node on. The node of worker 6,
// at the border of the leaves, is lost, and the one node of a third leaf is free.
TEST(Previous, AWorkerWhoseNodeIsLostComesToTheOneFreeNode) {
  constexpr std::uint32_t kWorkers = 24;
  const testing::FreePerNode twelve(12, 8);
  testing::PlacementScene scene(testing::Leaves({{8}, twelve, twelve}), kWorkers, 8);
  ByWorker<NodeIndex> nodes;
  for (std::uint32_t w = 0; w < kWorkers; ++w) nodes.emplace_back(1 + (w + 5) % kWorkers);
  scene.request.excluded = {nodes[WorkerIndex{6}]};
  nodes[WorkerIndex{6}] = kUnplaced;
  scene.request.previous_nodes = nodes;
  const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph);
  ASSERT_TRUE(plan);
  nodes[WorkerIndex{6}] = NodeIndex{0};
  EXPECT_EQ(plan->nodes, nodes);
}

TEST(Previous, ALevelSaysHowManyMove) {
  Scene scene({{8, 8, 8}});
  scene.request.previous_nodes = {scene.cluster.node("n0"), scene.cluster.node("n1")};
  const objective::Instance instance(scene.cluster.claims, scene.request, scene.graph);
  const auto at = [&](const char* a, const char* b) {
    return objective::Evaluate(instance, {scene.cluster.node(a), scene.cluster.node(b)});
  };
  EXPECT_EQ(objective::WhyWorse(instance, at("n0", "n2"), at("n0", "n1")),
            "costs no more, but puts 1 more worker on nodes that the last attempt did not use");
  EXPECT_EQ(objective::WhyWorse(instance, at("n1", "n0"), at("n0", "n1")),
            "costs no more, but puts 2 more workers on another node than in the last attempt");
  const auto says = [&](const char* a, const char* b) {
    return objective::Describe(instance, at(a, b)).front();
  };
  EXPECT_EQ(says("n0", "n2"), "1 of 2 workers is on nodes that the last attempt did not use.");
  EXPECT_EQ(says("n1", "n0"), "All workers are on nodes of the last attempt.");
}

}  // namespace
}  // namespace weft::placement
