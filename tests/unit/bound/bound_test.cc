// The bound against the optimum. Place reports the bound of an exhaustive search where it finishes,
// so these tests ask LowerBound itself.
#include "operator/bound/bound.h"

#include <iostream>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/objective/levels.h"
#include "operator/traffic/worker_grid.h"
#include "operator/traffic/worker_sets.h"
#include "tests/support/campaign.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/large_instance.h"
#include "tests/support/random_instance.h"
#include "tests/support/torus_shape.h"

namespace weft::bound {
namespace {

using objective::Instance;
using objective::Preferences;
using objective::Request;
using placement::Plan;

using namespace weft::testing;

// The raised bound over the optimum, which neither bound may be above.
double RatioToOptimum(const Instance& instance, const Plan& optimum, const std::string& what) {
  const auto cost = static_cast<double>(optimum.cost);
  const Int128 least = LowerBound(instance, optimum.preferences);
  const Int128 raised = RaisedBound(instance, optimum.preferences, optimum.cost);
  [&] {
    ASSERT_LE(least, optimum.cost) << what << ": " << static_cast<double>(least) / cost;
    ASSERT_LE(raised, optimum.cost) << what << ": " << static_cast<double>(raised) / cost;
    ASSERT_LE(least, raised) << what;
  }();
  return optimum.cost == 0 ? 1 : static_cast<double>(raised) / cost;
}

struct Solved {
  std::uint64_t count = 0;
  double ratio = 0;  // sum of bound over optimum
};

void HoldAgainstOptimum(const weft::testing::RandomOptions& random, std::uint64_t first,
                        Solved& solved) {
  const std::uint64_t count = weft::testing::Instances(400);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const RandomInstance instance = MakeRandomInstance(seed, random);
    objective::Options options;
    options.cost_tolerance_percent = 0;
    options.limits.exact_steps = 200'000;
    const placement::Placement best =
        placement::Place(*instance.claims, instance.request, *instance.graph, options);
    const Plan* plan = std::get_if<Plan>(&best);
    if (plan == nullptr || !plan->exact) continue;
    const Instance prepared(*instance.claims, instance.request, *instance.graph, options);
    solved.ratio += RatioToOptimum(prepared, *plan, instance.what);
    if (::testing::Test::HasFatalFailure()) return;
    ++solved.count;
  }
}

TEST(LowerBound, IsNeverAboveTheOptimum) {
  Solved solved;
  weft::testing::RandomOptions random;
  struct Sizes {
    std::uint32_t nodes, fewest_workers, workers;
  };
  for (const Sizes sizes : {Sizes{6, 2, 5}, Sizes{8, 4, 8}, Sizes{12, 6, 10}}) {
    random.most_nodes = sizes.nodes;
    random.fewest_workers = sizes.fewest_workers;
    random.most_workers = sizes.workers;
    HoldAgainstOptimum(random, 50'000, solved);
    if (HasFatalFailure()) return;
  }
  const double ratio = solved.ratio / static_cast<double>(solved.count);
  std::cout << solved.count << " solved, mean bound over optimum " << ratio << "\n";
  EXPECT_GT(solved.count, 900U);
  EXPECT_GT(ratio, 0.93);
}

TEST(LowerBound, IsNeverAboveTheOptimumOnToruses) {
  Solved solved;
  weft::testing::RandomOptions random;
  random.torus = true;
  random.most_nodes = 12;
  random.fewest_workers = 4;
  random.most_workers = 8;
  HoldAgainstOptimum(random, 60'000, solved);
  const double ratio = solved.ratio / static_cast<double>(solved.count);
  std::cout << solved.count << " solved, mean bound over optimum " << ratio << "\n";
  EXPECT_GT(solved.count, 200U);
  EXPECT_GT(ratio, 0.75);
}

TEST(LowerBound, IsNeverAboveTheOptimumWithPlanes) {
  Solved solved;
  HoldAgainstOptimum({.most_nodes = 10, .most_workers = 8, .fewest_workers = 4, .planes = true},
                     70'000, solved);
  const double ratio = solved.ratio / static_cast<double>(solved.count);
  std::cout << solved.count << " solved, mean bound over optimum " << ratio << "\n";
  EXPECT_GT(solved.count, 200U);
  EXPECT_GT(ratio, 0.85);
}

// A worker of a clique on a full torus of 3 x 3 x 3 has six peers at one hop, twelve at two and
// eight at three: 54 hops, whichever it is.
TEST(LowerBound, OfACliqueOnAFullTorusIsExact) {
  FabricShape shape = TorusOf({3, 3, 3}, std::vector<bool>(27, true));
  shape.hop_femtoseconds_per_byte = 1'000;
  const Cluster cluster = MakeCluster(shape);
  Request request;
  request.job = "test/experts";
  request.workers = 27;
  request.pod.requests = {{"nvidia.com/gpu", 8}};
  request.grid = {27};
  traffic::Parallelism parallelism;
  parallelism.expert = 27 * 8;
  parallelism.expert_tensor = 1;
  const auto traffic = traffic::ComputeTraffic(
      traffic::Model{std::nullopt, {{traffic::Axis::kExpert, 27 * 8 - 1}}}, parallelism, 27, 8);
  ASSERT_TRUE(traffic);
  const traffic::WorkerGraph graph(*traffic);
  const Instance instance(cluster.claims, request, graph, {});
  // Each rank sends a byte to each other one: 2 x 8 x 8 bytes between two workers.
  const Int128 optimum = Int128{27} * 54 / 2 * (2 * 8 * 8) * 1'000;
  EXPECT_EQ(LowerBound(instance, Preferences{}) == optimum, true);
}

// Leaves with few free nodes for one worker each, sometimes under NVLink domains that cross them,
// and a job with expert groups, rings and stages: groups must be broken, and into parts that fit.
struct Fragments {
  Cluster cluster;
  std::unique_ptr<traffic::WorkerGraph> graph;
  Request request;
};

Fragments MakeFragments(std::uint64_t seed) {
  using traffic::Axis;
  SplitMix64 random(seed);
  const auto pick = [&](std::vector<std::uint32_t> from) {
    return from[random.Below(from.size())];
  };
  const std::uint32_t pipeline = pick({1, 1, 2, 3}), expert = pick({2, 3, 4, 4, 6});
  const std::uint32_t replicas = pick({1, 2, 2, 3});
  const std::uint32_t workers = std::min(10U, std::max(4U, pipeline * expert * replicas));
  traffic::Parallelism shape;
  shape.expert_tensor = 1;
  if (workers % (pipeline * expert) == 0) {
    shape.pipeline = pipeline;
    shape.expert = expert;
  }
  if (shape.expert % 2 == 0 && random.Below(3) == 0) shape.context = 2;
  traffic::Model model;
  for (const Axis axis : {Axis::kExpert, Axis::kData, Axis::kPipeline, Axis::kContext}) {
    model.measured.push_back({axis, static_cast<std::int64_t>(1 + random.Below(2000)) * 1000});
  }
  FabricShape fabric;
  fabric.scale_up = random.Below(3) == 0;
  for (std::uint32_t leaf = 0, free = 0; leaf < 3 || free < workers; ++leaf) {
    for (std::uint64_t more = 1 + random.Below(4); more > 0; --more, ++free) {
      TestNode node;
      node.name = Numbered("n", fabric.nodes.size(), 100);
      node.domains = {Numbered("s", leaf / 2), Numbered("l", leaf)};
      if (fabric.scale_up) node.scale_up = Numbered("v", random.Below(4));
      node.accelerators = 1;
      fabric.nodes.push_back(std::move(node));
    }
  }
  Fragments fragments{MakeCluster(fabric), nullptr, {}};
  const auto traffic = traffic::ComputeTraffic(model, shape, workers, 1);
  if (!traffic) ADD_FAILURE() << traffic.error().message;
  fragments.graph = std::make_unique<traffic::WorkerGraph>(*traffic);
  fragments.request.job = "test/job";
  fragments.request.workers = workers;
  fragments.request.pod.requests = {{"nvidia.com/gpu", 1}};
  fragments.request.grid = traffic::WorkerGrid(shape, workers, 1);
  return fragments;
}

TEST(LowerBound, IsNeverAboveTheOptimumOnFragments) {
  std::uint64_t solved = 0;
  double ratio = 0;
  const std::uint64_t count = weft::testing::Instances(200);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    const Fragments fragments = MakeFragments(seed);
    objective::Options options;
    options.cost_tolerance_percent = 0;
    options.limits.exact_steps = 100'000;
    const placement::Placement best =
        placement::Place(fragments.cluster.claims, fragments.request, *fragments.graph, options);
    const Plan* plan = std::get_if<Plan>(&best);
    ASSERT_NE(plan, nullptr);
    if (!plan->exact) continue;
    const Instance prepared(fragments.cluster.claims, fragments.request, *fragments.graph, options);
    ratio += RatioToOptimum(prepared, *plan, "seed " + std::to_string(seed));
    if (HasFatalFailure()) return;
    ++solved;
  }
  std::cout << solved << " solved, mean bound over optimum " << ratio / static_cast<double>(solved)
            << "\n";
  EXPECT_GT(solved, 100U);
  EXPECT_GT(ratio / static_cast<double>(solved), 0.92);
}

// Spine s0 has 21 free slots, but its leaves have 3 each and no room for a group of 4. The bound of
// the job is that of s1, the only home; it read tables that were never filled for s0.
TEST(LowerBound, LeavesOutHomesWithoutRoomForWholeGroups) {
  const FreePerLeaf three = {{1, 1, 1}}, four = {{1, 1, 1, 1}};
  const Cluster cluster =
      MakeCluster(Spines({FreePerSpine(7, three), FreePerSpine(6, four)}, /*scale_up=*/false, 1));
  traffic::Parallelism shape;
  shape.tensor = 4;
  const auto traffic = traffic::ComputeTraffic(
      traffic::Model{std::nullopt, {{traffic::Axis::kTensor, 1000}, {traffic::Axis::kData, 3000}}},
      shape, 20, 1);
  ASSERT_TRUE(traffic);
  const traffic::WorkerGraph graph(*traffic);
  Request request;
  request.job = "test/groups";
  request.workers = 20;
  request.pod.requests = {{"nvidia.com/gpu", 1}};
  request.grid = traffic::WorkerGrid(shape, 20, 1);
  request.required = cluster.fabric->FindTier("spine");
  const traffic::Axis tensor[] = {traffic::Axis::kTensor};
  objective::GroupConstraint group;
  group.sets = *traffic::GroupWorkers(tensor, shape, 20, 1);
  group.required = cluster.fabric->FindTier("leaf");
  request.groups.push_back(std::move(group));
  const placement::Placement placement = placement::Place(cluster.claims, request, graph, {});
  const Plan* plan = std::get_if<Plan>(&placement);
  ASSERT_NE(plan, nullptr);
  const Instance instance(cluster.claims, request, graph, {});
  const Int128 raised = RaisedBound(instance, plan->preferences, plan->cost);
  EXPECT_LE(raised, plan->cost);
  EXPECT_GT(raised * 100, plan->cost * 90);  // not that of s0, which would be 0
}

// Two groups of 4 on three leaves with 3 nodes each. Two leaves could take 3 of a group each, and
// the third 2 of another group; but two groups are 3 + 1 and 3 + 1.
TEST(RaisedBound, CountsThatThePartsMakeUpWholeGroups) {
  const Cluster cluster = MakeCluster(Leaves({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, 1));
  Request request;
  request.job = "test/experts";
  request.workers = 8;
  request.pod.requests = {{"nvidia.com/gpu", 1}};
  traffic::Parallelism shape;
  shape.expert = 4;
  shape.expert_tensor = 1;
  request.grid = traffic::WorkerGrid(shape, 8, 1);
  const auto traffic = traffic::ComputeTraffic(
      traffic::Model{std::nullopt, {{traffic::Axis::kExpert, 900}}}, shape, 8, 1);
  ASSERT_TRUE(traffic);
  const traffic::WorkerGraph graph(*traffic);
  const Instance instance(cluster.claims, request, graph, {});
  // 12 pairs of 600 bytes at 20'000; those between leaves at 40'000: 3 + 3 of two groups.
  const double inside = 12 * 600 * 20'000.0, pair = 600 * 20'000.0;
  EXPECT_NEAR(static_cast<double>(LowerBound(instance, Preferences{})), inside + 5 * pair,
              pair / 1e3);
  const auto optimum = static_cast<Int128>(inside + 6 * pair);
  EXPECT_NEAR(static_cast<double>(RaisedBound(instance, Preferences{}, optimum)), inside + 6 * pair,
              pair / 1e3);
}

// A ring of one worker a node over leaves of three: the fewest leaves, each cut twice.
TEST(LowerBound, OfARingIsExact) {
  const Cluster cluster = MakeCluster(Leaves({{8, 8, 8}, {8, 8, 8}, {8, 8, 8}}));
  Request request;
  request.job = "test/ring";
  request.workers = 7;
  request.pod.requests = {{"nvidia.com/gpu", 8}};
  request.grid = {7};
  traffic::Parallelism shape;
  const auto traffic = traffic::ComputeTraffic(
      traffic::Model{std::nullopt, {{traffic::Axis::kData, 1000}}}, shape, 7, 8);
  ASSERT_TRUE(traffic);
  const traffic::WorkerGraph graph(*traffic);
  const Instance instance(cluster.claims, request, graph, {});
  // Seven edges of 1000 bytes at 20'000, three of them at 40'000.
  const double optimum = 7 * 1000 * 20'000.0 + 3 * 1000 * 20'000.0;
  const auto bound = static_cast<double>(LowerBound(instance, Preferences{}));
  EXPECT_LE(bound, optimum);
  EXPECT_GT(bound, optimum * (1 - 1e-6));
}

}  // namespace
}  // namespace weft::bound
