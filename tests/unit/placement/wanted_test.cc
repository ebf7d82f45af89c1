#include "operator/placement/wanted.h"

#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "operator/base/random.h"
#include "operator/objective/hard_rules.h"
#include "operator/placement/move_to_wanted.h"
#include "operator/placement/place.h"
#include "operator/rules/unwanted.h"
#include "tests/support/campaign.h"
#include "tests/support/placement_scene.h"
#include "tests/support/random_instance.h"

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

// A wish of the same weight for each of these nodes.
rules::PodRequirements Preferring(rules::PodRequirements pod,
                                  const std::vector<std::string>& names) {
  std::vector<rules::PreferredTerm> wishes;
  for (const std::string& name : names) {
    wishes.push_back({1, {{}, {{"metadata.name", "In", {name}}}}});
  }
  pod.preferred = wishes;
  return pod;
}

std::set<std::string> Used(const testing::PlacementScene& scene, const Plan& plan) {
  std::set<std::string> names;
  for (const NodeIndex n : plan.nodes) names.insert(scene.cluster.fabric->node(n).name);
  return names;
}

TEST(OnWantedNodes, UsesAllPreferredNodesIfTheyHoldOnlyPartOfTheGang) {
  for (const auto& [one, other] : {std::pair("n0", "n1"), {"n2", "n5"}, {"n4", "n5"}}) {
    testing::PlacementScene scene(testing::Leaves({testing::FreePerNode(6, 8)}), 3, 8);
    scene.request.pod = Preferring(scene.request.pod, {one, other});
    const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph);
    ASSERT_TRUE(plan);
    const std::set<std::string> used = Used(scene, *plan);
    EXPECT_TRUE(used.contains(one) && used.contains(other)) << scene.Show(plan->nodes);
    EXPECT_TRUE(plan->exact);
  }
}

TEST(OnWantedNodes, TakesNoMoreCordonedNodesThanItMust) {
  for (const std::set<std::size_t>& cordoned :
       {std::set<std::size_t>{0, 1}, {0, 2}, {1, 3}, {2, 3}}) {
    testing::FabricShape shape = testing::Leaves({testing::FreePerNode(4, 8)});
    for (const std::size_t n : cordoned) {
      shape.nodes[n].unschedulable = true;
      shape.nodes[n].taints = {{"node.kubernetes.io/unschedulable", "", "NoSchedule"}};
    }
    testing::PlacementScene scene(shape, 3, 8);
    scene.request.pod.tolerations = {{"node.kubernetes.io/unschedulable", "Exists", "", ""}};
    const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph);
    ASSERT_TRUE(plan);
    std::size_t on_cordoned = 0;
    for (const NodeIndex n : plan->nodes) on_cordoned += cordoned.count(n.Raw());
    EXPECT_EQ(on_cordoned, 1u) << scene.Show(plan->nodes);
  }
}

// Every leaf has a node that is unwanted most; one has three nodes that are unwanted less.
TEST(OnWantedNodes, TakesTheLeafWithTheLeastSumAndNotTheOneWithTheLeastMaximum) {
  testing::FabricShape shape =
      testing::Leaves({{8, 8, 8, 8}, {8, 8, 8, 8}, {8, 8, 8, 8}, {8, 8, 8, 8}});
  const auto taint = [&](std::size_t node, std::size_t times) {
    for (std::size_t t = 0; t < times; ++t) {
      shape.nodes[node].taints.push_back({"soft" + std::to_string(t), "", "PreferNoSchedule"});
    }
  };
  for (const std::size_t n : {0U, 1U, 2U}) taint(n, 3);
  for (const std::size_t n : {4U, 5U, 6U, 7U}) taint(n, 2);
  taint(8, 4);
  for (const std::size_t n : {12U, 13U}) taint(n, 3);
  const testing::PlacementScene scene(shape, 4, 8);
  const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph);
  ASSERT_TRUE(plan);
  EXPECT_EQ(scene.Show(plan->nodes), "n08 n09 n10 n11");
}

TEST(OnWantedNodes, LargeJobLeavesHalfOfItsUnwantedNodesForOthersOfItsLeaves) {
  const testing::FreePerNode twenty(20, 8);
  testing::PlacementScene scene(testing::Leaves({twenty, twenty, twenty, twenty}), 64, 8);
  std::vector<NodeIndex> unwanted;  // eight of each leaf, which has four nodes too many
  for (std::uint32_t n = 0; n < 80; ++n) {
    if (n % 20 < 8) unwanted.push_back(NodeIndex{n});
  }
  const auto plain = Solve(scene.cluster.claims, scene.request, scene.graph);
  scene.request.pod = Avoiding(scene.request.pod, *scene.cluster.fabric, unwanted);
  const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph);
  ASSERT_TRUE(plain && plan);
  EXPECT_LE(plan->cost, objective::CostLimit(plain->cost, 1));
  std::size_t left = 0;
  for (const NodeIndex n : plan->nodes) left += n.Raw() % 20 < 8 ? 1 : 0;
  EXPECT_EQ(left, 16u);  // 48 nodes are wanted
}

TEST(OnWantedNodes, SolvesNothingIfNoNodeIsWantedMoreThanAnother) {
  const testing::PlacementScene scene = Scene(14);
  auto plan = Solve(scene.cluster.claims, scene.request, scene.graph);
  ASSERT_TRUE(plan);
  const Plan same = OnWantedNodes(scene.cluster.claims, scene.request, scene.graph, {}, *plan,
                                  [](const objective::Request&) -> std::optional<Plan> {
                                    ADD_FAILURE() << "solved again";
                                    return std::nullopt;
                                  });
  EXPECT_EQ(same.nodes, plan->nodes);
}

TEST(OnWantedNodes, KeepsToItsLimitOfSolves) {
  for (const auto& [workers, most] : {std::pair(14U, 16), {30U, 16}}) {
    testing::PlacementScene scene = Scene(workers);
    const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph);
    ASSERT_TRUE(plan);
    SplitMix64 random(workers);
    std::vector<rules::PreferredTerm> wishes;
    for (std::uint32_t n = 0; n < 32; ++n) {
      const std::string& name = scene.cluster.fabric->node(NodeIndex{n}).name;
      wishes.push_back({1 + static_cast<std::int64_t>(random.Below(100)),
                        {{}, {{"metadata.name", "In", {name}}}}});
    }
    scene.request.pod.preferred = wishes;
    int solves = 0;
    OnWantedNodes(scene.cluster.claims, scene.request, scene.graph, {}, *plan,
                  [&](const objective::Request&) -> std::optional<Plan> {
                    ++solves;
                    return std::nullopt;
                  });
    EXPECT_LE(solves, most + 6);  // six to halve 32 values
  }
}

// All placements of a small job: the least sum among those of the least preferences and of a cost
// within the tolerance.
class LeastSum {
 public:
  LeastSum(const testing::RandomInstance& random, const fabric::ByNode<std::uint32_t>& unwanted)
      : instance_(*random.claims, random.request, *random.graph),
        unwanted_(unwanted),
        free_(instance_.slots().begin(), instance_.slots().end()),
        nodes_(random.request.workers) {
    Enumerate(WorkerIndex{0});
  }

  std::int64_t Within(int tolerance_percent) const {
    const auto first = by_objective_.begin()->first;
    std::int64_t least = by_objective_.begin()->second;
    for (const auto& [objective, sum] : by_objective_) {
      if (objective.preferences != first.preferences) break;
      if (objective.cost > objective::CostLimit(first.cost, tolerance_percent)) break;
      least = std::min(least, sum);
    }
    return least;
  }

 private:
  void Enumerate(WorkerIndex worker) {
    if (worker == nodes_.EndIndex()) {
      if (!objective::MeetsTopology(instance_, nodes_)) return;
      const auto objective = objective::Evaluate(instance_, nodes_).objective();
      const std::int64_t sum = SumUnwanted(unwanted_, nodes_);
      const auto [at, added] = by_objective_.emplace(objective, sum);
      if (!added) at->second = std::min(at->second, sum);
      return;
    }
    for (const NodeIndex n : free_.Indices()) {
      if (free_[n] == 0) continue;
      --free_[n];
      nodes_[worker] = n;
      Enumerate(worker + 1);
      ++free_[n];
    }
  }

  objective::Instance instance_;
  const fabric::ByNode<std::uint32_t>& unwanted_;
  fabric::ByNode<std::uint32_t> free_;
  ByWorker<NodeIndex> nodes_;
  std::map<objective::Objective, std::int64_t> by_objective_;
};

// Half of the instances have wishes of one weight, the others of many.
void AddWishes(std::uint64_t seed, testing::RandomInstance& instance) {
  SplitMix64 random(seed * 7 + 1);
  const bool weighted = random.Below(2) == 0;
  std::vector<rules::PreferredTerm> wishes;
  for (const NodeIndex n : Range<NodeIndex>(instance.fabric->node_count())) {
    const std::int64_t weight = weighted ? 1 + static_cast<std::int64_t>(random.Below(100)) : 1;
    if (random.Below(2) == 0) continue;
    wishes.push_back({weight, {{}, {{"metadata.name", "In", {instance.fabric->node(n).name}}}}});
  }
  instance.request.pod.preferred = wishes;
}

// Of random jobs, the share whose sum is the least there is. A job counts if its plan without
// wishes has a greater sum.
double ShareWithLeastSum(std::uint64_t first, std::uint64_t instances,
                         const testing::RandomOptions& random, int tolerance) {
  std::uint64_t counted = 0, least = 0;
  for (std::uint64_t seed = first; seed < first + instances; ++seed) {
    testing::RandomInstance instance = testing::MakeRandomInstance(seed, random);
    objective::Options options;
    options.cost_tolerance_percent = tolerance;
    const auto plain = Solve(*instance.claims, instance.request, *instance.graph, options);
    if (!plain || !plain->exact) continue;
    AddWishes(seed, instance);
    const rules::SlotQuery query = {.pod = &instance.request.pod,
                                    .job = instance.request.job,
                                    .excluded = {},
                                    .cap = instance.request.workers};
    const auto unwanted = rules::Unwanted(*instance.claims, query);
    if (unwanted.empty()) continue;
    const std::int64_t want = LeastSum(instance, unwanted).Within(tolerance);
    if (SumUnwanted(unwanted, plain->nodes) <= want) continue;
    const auto plan = Solve(*instance.claims, instance.request, *instance.graph, options);
    EXPECT_TRUE(plan) << instance.what;
    if (!plan) continue;
    EXPECT_LE(plan->cost, objective::CostLimit(plan->lower_bound, tolerance)) << instance.what;
    EXPECT_EQ(plan->preferences, plain->preferences) << instance.what;
    EXPECT_GE(SumUnwanted(unwanted, plan->nodes), want) << instance.what;
    ++counted;
    least += SumUnwanted(unwanted, plan->nodes) == want ? 1 : 0;
  }
  EXPECT_GT(counted, instances / 10);
  const double share = counted == 0 ? 1 : static_cast<double>(least) / static_cast<double>(counted);
  std::cout << least << " of " << counted << " jobs have the least sum (" << 100 * share << " %)\n";
  return share;
}

TEST(OnWantedNodes, OfSmallJobsNearlyAllHaveTheLeastSumOfAllPlacementsOfTheLeastCost) {
  struct Kind {
    const char* name;
    testing::RandomOptions random;
  };
  std::uint64_t first = 7'000'000;
  for (const auto& [name, random] : std::initializer_list<Kind>{
           {"few nodes", {.most_nodes = 7, .most_workers = 5}},
           {"many nodes", {.most_nodes = 14, .most_workers = 4}},
           {"planes", {.most_nodes = 9, .most_workers = 4, .planes = true}},
           {"flat levels", {.most_nodes = 9, .most_workers = 4, .flat = true}},
           {"a torus", {.most_nodes = 9, .most_workers = 4, .torus = true}}}) {
    for (const int tolerance : {0, 1}) {
      SCOPED_TRACE(name);
      std::cout << name << ", tolerance " << tolerance << " %: ";
      EXPECT_GE(ShareWithLeastSum(first, testing::Instances(300), random, tolerance), 0.95);
      first += 1'000'000;  // more than a campaign looks at
    }
  }
}

}  // namespace
}  // namespace weft::placement
