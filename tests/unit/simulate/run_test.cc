#include "operator/simulate/run.h"

#include <gtest/gtest.h>

#include <cmath>

#include "operator/simulate/chance.h"
#include "operator/simulate/summary.h"
#include "operator/simulate/virtual_time.h"
#include "tests/unit/simulate/fleet_scene.h"

namespace weft::simulate {
namespace {

DispatchRules With(QueueOrder order, Backfill backfill) {
  DispatchRules rules;
  rules.order = order;
  rules.backfill = backfill;
  return rules;
}

// Four nodes in two leaves. `big` needs all of them while `first` runs.
std::vector<TestJob> BigBehindFirst() {
  return {{"first", 0, 1000, 1, 8, 1000},
          {"big", 10, 100, 4, 8, 100},
          {"small", 20, 5000, 1, 8, 5000},
          {"late", 700, 200, 1, 8, 200}};
}

TEST(Run, WithoutBackfillNobodyOvertakes) {
  EXPECT_EQ(FleetScene(testing::FourNodes(), BigBehindFirst())
                .Run(With(QueueOrder::kPriority, Backfill::kNone)),
            "first 0-1000 n0; big 1000-1100 n0 n1 n2 n3; small 1100-6100 n0; late 1100-1300 n1");
}

TEST(Run, AnyBackfillLetsALargeJobWait) {
  EXPECT_EQ(FleetScene(testing::FourNodes(), BigBehindFirst())
                .Run(With(QueueOrder::kPriority, Backfill::kAny)),
            "first 0-1000 n0; small 20-5020 n1; late 700-900 n2; big 5020-5120 n0 n1 n2 n3");
}

TEST(Run, NodesAreReservedForAJobThatHasWaitedTenMinutes) {
  std::vector<TestJob> jobs = BigBehindFirst();
  jobs[2].arrival = 650;  // after `big` has waited for 600 s
  jobs.push_back({"too-long", 800, 201, 1, 8, 201});
  EXPECT_EQ(FleetScene(testing::FourNodes(), jobs).Run(),
            "first 0-1000 n0; late 700-900 n1; big 1000-1100 n0 n1 n2 n3; small 1100-6100 n0; "
            "too-long 1100-1301 n1");
}

TEST(Run, ShortestFirstLooksAtEstimates) {
  EXPECT_EQ(FleetScene(testing::FourNodes(), {{"now", 0, 10, 4, 8, 10},
                                              {"long", 1, 50, 4, 8, 50},
                                              {"short", 2, 40, 4, 8, 40},
                                              {"unknown", 0, 5, 4, 8}})
                .Run(With(QueueOrder::kShortest, Backfill::kAny)),
            "now 0-10 n0 n1 n2 n3; short 10-50 n0 n1 n2 n3; long 50-100 n0 n1 n2 n3; unknown "
            "100-105 n0 n1 n2 n3");
}

TEST(Run, JobsThatNeverFitAreNamedAndTheRestRuns) {
  const FleetScene scene(testing::FourNodes(), {{"huge", 0, 10, 5}, {"fits", 0, 10, 1}});
  EXPECT_EQ(scene.scenario.never_fit, std::vector<std::string>{"ns/huge"});
  EXPECT_EQ(scene.Run(), "fits 0-10 n0");
}

TEST(Run, AJobThatRequiresOneLeafWaitsForOne) {
  EXPECT_EQ(FleetScene(testing::FourNodes(),
                       {{"a", 0, 100, 1}, {"b", 0, 50, 3}, {"pair", 10, 10, 2, 8, {}, "leaf"}})
                .Run(),
            "a 0-100 n0; b 0-50 n1 n2 n3; pair 50-60 n2 n3");
}

// Jobs of one GPU each that arrive as a Poisson process on c GPUs and run for an exponential time.
TEST(Run, WaitsAsErlangsFormulaSays) {
  constexpr int kServers = 8, kJobs = 40'000;
  constexpr double kLoad = 0.8, kMean = 1000;
  Trace trace;
  SplitMix64 random(7);
  double now = 0;
  for (int j = 0; j < kJobs; ++j) {
    now += Exponential(random) * kMean / (kServers * kLoad);
    trace.jobs.push_back(
        {"j" + std::to_string(j), ToMicros(now), ToMicros(Exponential(random) * kMean), 1, {}, 0});
  }
  const cluster::Cluster cluster = testing::Scene(testing::Leaves({{8}})).Build();
  const auto scenario = MakeScenario(cluster, &trace, {});
  ASSERT_TRUE(scenario);
  RunOptions options;
  options.rules.backfill = Backfill::kNone;
  const Summary summary = Summarise(*scenario, options);
  // Erlang C: the probability that an arrival waits, over the rate at which servers become free.
  double term = 1, sum = 0;
  for (int k = 0; k < kServers; ++k) {
    sum += term;
    term *= kServers * kLoad / (k + 1);
  }
  const double waits = term / (1 - kLoad) / (sum + term / (1 - kLoad));
  const double mean = waits * kMean / (kServers * (1 - kLoad));
  EXPECT_EQ(summary.finished, static_cast<std::size_t>(kJobs));
  EXPECT_NEAR(summary.wait.mean, mean, 0.1 * mean);
  EXPECT_NEAR(summary.utilisation, kLoad, 0.02);
  // Little's law: the mean queue is the arrival rate times the mean wait.
  EXPECT_NEAR(summary.mean_queue, summary.wait.mean * kJobs / summary.makespan, 1e-6);
}

TEST(Run, TheSameSeedGivesTheSameOutcome) {
  std::vector<TestJob> jobs;
  SplitMix64 random(3);
  for (int j = 0; j < 60; ++j) {
    jobs.push_back({"j" + std::to_string(j), static_cast<std::int64_t>(random.Below(500)),
                    static_cast<std::int64_t>(1 + random.Below(100)),
                    static_cast<std::uint32_t>(1 + random.Below(3)), 8, 100});
  }
  const FleetScene scene(testing::FourNodes(), jobs);
  for (const Policy policy : AllPolicies()) {
    DispatchRules rules;
    rules.policy = policy;
    EXPECT_EQ(scene.Run(rules), scene.Run(rules)) << PolicyName(policy);
  }
  DispatchRules one, other;
  one.policy = other.policy = *FindPolicy("random");
  other.seed = 2;
  EXPECT_NE(scene.Run(one), scene.Run(other));
}

}  // namespace
}  // namespace weft::simulate
