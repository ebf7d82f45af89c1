#include "operator/simulate/faults.h"

#include <gtest/gtest.h>

#include "operator/simulate/run.h"
#include "operator/simulate/summary.h"
#include "tests/unit/simulate/fleet_scene.h"

namespace weft::simulate {
namespace {

FaultOptions Failing(double rate) {
  FaultOptions options;
  options.failures = rate;
  return options;
}

TEST(Faults, NodesFailAtTheRateAndReturnAfterTheRepair) {
  const cluster::Cluster cluster = testing::Scene(testing::H100Nodes(100)).Build();
  Faults faults(*cluster.fabrics.front().fabric, Failing(50), 1);
  constexpr std::int64_t kDays = 400;
  std::map<fabric::NodeIndex, Micros> away;
  int failures = 0;
  while (*faults.next_fault() < kDays * 86'400 * kSecond) {
    const Micros now = std::min(*faults.next_fault(), faults.next_return().value_or(INT64_MAX));
    const auto fault = faults.Take(now);
    if (!fault) continue;
    if (fault->kind == FaultKind::kReturn) {
      EXPECT_EQ(fault->time - away.at(fault->node), 4 * 3600 * kSecond);
      away.erase(fault->node);
      continue;
    }
    EXPECT_TRUE(away.emplace(fault->node, fault->time).second) << "a node fails while it is away";
    ++failures;
  }
  // 100 nodes x 400 days at 50 for 1,000 node-days, less the time that nodes are away.
  EXPECT_NEAR(failures, 2000, 150);
}

TEST(Faults, OnlySpotNodesAreInterrupted) {
  const cluster::Cluster cluster = testing::Scene(testing::ThreeProducts()).Build();
  const fabric::Fabric& fabric = *cluster.fabrics.front().fabric;
  FaultOptions options;
  options.interruptions = 1000;
  Faults faults(fabric, options, 1);
  for (int i = 0; i < 50; ++i) {
    const auto fault =
        faults.Take(std::min(*faults.next_fault(), faults.next_return().value_or(INT64_MAX)));
    if (!fault) continue;
    const std::string& name = fabric.node(fault->node).name;
    EXPECT_TRUE(name == "n5" || name == "n6") << name;
  }
}

TEST(Faults, AFailureLosesTheWorkSinceTheLastCheckpoint) {
  const FaultOptions options = Failing(3.79);
  outlook::FailureRates rates;
  const double interval = outlook::ReliabilityOf(16, rates).checkpoint_interval_seconds;
  EXPECT_NEAR(LostSeconds(interval * 3 + 100, 16, options), 100, 1e-6);
  EXPECT_DOUBLE_EQ(LostSeconds(interval / 2, 16, options), interval / 2);
}

Summary RunWith(const FleetScene& scene, const FaultOptions& faults) {
  RunOptions options;
  options.faults = faults;
  return Summarise(scene.scenario, options);
}

TEST(Faults, JobsStartAgainUntilAllAreDone) {
  std::vector<TestJob> jobs;
  for (int j = 0; j < 20; ++j) {
    jobs.push_back({"j" + std::to_string(j), j * 1000, 100'000,
                    1 + static_cast<std::uint32_t>(j % 3), 8, 100'000});
  }
  const FleetScene scene(testing::FourNodes(), jobs);
  const Summary calm = RunWith(scene, {}), rough = RunWith(scene, Failing(2000));
  EXPECT_EQ(calm.restarts, 0U);
  EXPECT_EQ(rough.finished, 20U);
  EXPECT_GT(rough.failures, 20U);
  EXPECT_GT(rough.restarts, 10U);
  EXPECT_LE(rough.restarts, rough.failures * 8);
  EXPECT_GT(rough.makespan, calm.makespan);
  EXPECT_GT(rough.lost_share, 0);
  EXPECT_LT(rough.lost_share, 1);
}

TEST(Faults, ACordonEndsNoJobAndKeepsOthersOff) {
  FaultOptions options;
  options.cordons = 5000;
  options.cordon_seconds = 50'000;
  std::vector<TestJob> jobs;
  for (int j = 0; j < 20; ++j) jobs.push_back({"j" + std::to_string(j), 0, 10'000, 1, 8, 10'000});
  const FleetScene scene(testing::FourNodes(), jobs);
  const Summary calm = RunWith(scene, {}), cordoned = RunWith(scene, options);
  EXPECT_EQ(cordoned.restarts, 0U);
  EXPECT_EQ(cordoned.finished, 20U);
  EXPECT_GT(cordoned.makespan, calm.makespan);
}

}  // namespace
}  // namespace weft::simulate
