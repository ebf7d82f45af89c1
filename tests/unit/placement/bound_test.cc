// The bound against the optimum. Place reports the bound of an exhaustive search where it finishes,
// so these tests ask LowerBound itself.
#include "operator/placement/bound.h"

#include <iostream>

#include "gtest/gtest.h"
#include "tests/support/campaign.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/large_instance.h"
#include "tests/support/random_instance.h"

namespace weft::placement {
namespace {

using weft::testing::MakeRandomInstance;
using weft::testing::RandomInstance;

TEST(LowerBound, IsNeverAboveTheOptimum) {
  struct Sizes {
    std::uint32_t nodes, fewest_workers, workers;
  };
  std::uint64_t solved = 0;
  double ratio = 0;
  for (const Sizes sizes : {Sizes{6, 2, 5}, Sizes{8, 4, 8}, Sizes{12, 6, 10}}) {
    const std::uint64_t count = weft::testing::Instances(400);
    for (std::uint64_t seed = 50'000; seed < 50'000 + count; ++seed) {
      const RandomInstance instance =
          MakeRandomInstance(seed, {.most_nodes = sizes.nodes,
                                    .most_workers = sizes.workers,
                                    .constraints = true,
                                    .crossing = true,
                                    .fewest_workers = sizes.fewest_workers});
      Options options;
      options.cost_tolerance_percent = 0;
      options.limits.exact_steps = 200'000;
      const Placement best = Place(*instance.claims, instance.request, *instance.graph, options);
      const Plan* plan = std::get_if<Plan>(&best);
      if (plan == nullptr || !plan->exact) continue;
      const Instance prepared(*instance.claims, instance.request, *instance.graph, options);
      const Int128 bound = LowerBound(prepared, plan->preferences);
      ASSERT_TRUE(bound <= plan->cost) << instance.what << ": bound " << static_cast<double>(bound)
                                       << ", optimum " << static_cast<double>(plan->cost);
      ++solved;
      ratio += plan->cost == 0 ? 1 : static_cast<double>(bound) / static_cast<double>(plan->cost);
    }
  }
  std::cout << solved << " solved, mean bound over optimum " << ratio / static_cast<double>(solved)
            << "\n";
  EXPECT_GT(solved, 900U);
  EXPECT_GT(ratio / static_cast<double>(solved), 0.7);
}

// A ring of one worker a node over leaves of three: the fewest leaves, each cut twice.
TEST(LowerBound, OfARingIsExact) {
  using namespace weft::testing;
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
}  // namespace weft::placement
