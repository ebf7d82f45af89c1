#include "operator/simulate/meter.h"

#include <gtest/gtest.h>

#include "operator/simulate/summary.h"
#include "tests/unit/simulate/fleet_scene.h"

namespace weft::simulate {
namespace {

// Of an H100: 0.14 of 700 W idle, 0.9 of the rest in training, and 0.4 of 700 W for its server.
constexpr double kBusyWatts = 98 + 0.9 * (700 - 98) + 280, kIdleWatts = 98 + 280;

testing::FabricShape TwoNodes() {
  testing::FabricShape shape = testing::Leaves({{8, 8}});
  for (testing::TestNode& node : shape.nodes) {
    node.labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3";
  }
  return shape;
}

outlook::Prices TwoDollars() {
  outlook::Prices prices;
  prices.currency = "USD";
  prices.cooling_overhead = 1.5;
  prices.prices.push_back({"H100", 2.0, {}, 1.0, ""});
  return prices;
}

TEST(Meter, JobsDrawWhatTrainingDrawsAndTheRestOfTheFleetIdles) {
  const FleetScene scene(TwoNodes(), {{"a", 0, 100, 1}, {"b", 50, 100, 1, 4}});
  const Bill bill = simulate::Run(scene.scenario, {}).bill;
  const double held = 8 * 100 + 4 * 100, all = 16 * 150;
  EXPECT_NEAR(bill.job_joules, kBusyWatts * held, 1);
  EXPECT_NEAR(bill.idle_joules, kIdleWatts * (all - held), 1);
  EXPECT_FALSE(bill.cost);
}

TEST(Meter, TheBillIsTheHoursOfTheJobsAndOfTheFleet) {
  const FleetScene scene(TwoNodes(), {{"a", 0, 1800, 1}, {"b", 1800, 1800, 2}});
  const outlook::Prices prices = TwoDollars();
  RunOptions options;
  options.prices = &prices;
  const Summary summary = Summarise(scene.scenario, options);
  ASSERT_TRUE(summary.bill.cost);
  EXPECT_NEAR(summary.bill.cost->jobs, 2.0 * (8 * 0.5 + 16 * 0.5), 1e-9);
  EXPECT_NEAR(summary.bill.cost->fleet, 2.0 * 16, 1e-9);
  EXPECT_EQ(summary.currency, "USD");
  EXPECT_NEAR(*summary.facility_joules, 1.5 * (summary.bill.job_joules + summary.bill.idle_joules),
              1);
}

TEST(Meter, SpotNodesHaveTheirOwnPriceAndAnUnknownPriceMeansNoBill) {
  testing::FabricShape shape = TwoNodes();
  shape.nodes[1].labels["karpenter.sh/capacity-type"] = "spot";
  const FleetScene scene(shape, {{"a", 0, 3600, 1}, {"b", 0, 3600, 1}});
  outlook::Prices prices = TwoDollars();
  const auto cost = [&] {
    RunOptions options;
    options.prices = &prices;
    return simulate::Run(scene.scenario, options).bill.cost;
  };
  ASSERT_TRUE(cost());
  EXPECT_NEAR(cost()->jobs, 8 * 2.0 + 8 * 1.0, 1e-9);
  prices.prices.front().spot.reset();
  EXPECT_FALSE(cost());
}

TEST(Meter, GpusOfEarlierPodsAreLeftOutAndWorkThatIsDoneTwiceCountsTwice) {
  testing::Scene made(TwoNodes());
  made.Pod("earlier", "n1").pod.requests = {{testing::kGpu, 8}};
  made.Job("a", 1).meta.annotations.Set(kRunAnnotation, "2000000");
  const cluster::Cluster cluster = made.Build();
  const Scenario scenario = FleetScene::Make(cluster);
  const Bill once = simulate::Run(scenario, {}).bill;
  EXPECT_NEAR(once.job_joules, kBusyWatts * 8 * 2e6, 1e3);
  EXPECT_NEAR(once.idle_joules, 0, 1);
  RunOptions failing;
  failing.faults.failures = 300;
  const Outcome outcome = simulate::Run(scenario, failing);
  ASSERT_GT(outcome.restarts, 0U);
  EXPECT_NEAR(outcome.bill.job_joules, kBusyWatts * (8 * 2e6 + outcome.lost_gpu_seconds),
              kBusyWatts * 8);
}

}  // namespace
}  // namespace weft::simulate
