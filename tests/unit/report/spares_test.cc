#include "operator/report/spares.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/scene.h"

namespace weft::report {
namespace {

using testing::Scene;
using Json = nlohmann::json;

SpareAdvice AdviceOf(const Scene& scene, const FailureSources& sources = {}) {
  const cluster::Cluster cluster = scene.Build();
  const auto advice = AdviseSpares(cluster, sources);
  EXPECT_TRUE(advice) << advice.error().message;
  return advice ? *advice : SpareAdvice();
}

const SpareLevel& LevelOf(const SparePool& pool, const std::string& name) {
  for (const SpareLevel& level : pool.levels) {
    if (level.level == name) return level;
  }
  ADD_FAILURE() << "no level " << name;
  return pool.levels.front();
}

FailureSources Daily(double rate) {
  FailureSources sources;
  sources.per_1000_node_days = rate;
  sources.repair_seconds = 86'400;
  return sources;
}

TEST(SparesReportTest, EveryLevelHasTheFiguresOfItsLargestDomain) {
  const SpareAdvice advice = AdviceOf(Scene(testing::H100Nodes(2048)), Daily(3.79));
  ASSERT_EQ(advice.pools.size(), 1u);
  const SparePool& pool = advice.pools[0];
  EXPECT_EQ(pool.fabric, "default");
  EXPECT_EQ(pool.accelerator, "H100");
  EXPECT_EQ(pool.nodes, 2048);
  struct Case {
    const char* level;
    std::int64_t domains, nodes, p99, best, total;
  };
  constexpr Case kCases[] = {
      {"outside", 1, 2048, 15, 18, 18}, {"spine", 4, 512, 6, 7, 28}, {"leaf", 64, 32, 1, 1, 64}};
  ASSERT_EQ(pool.levels.size(), std::size(kCases));
  for (std::size_t l = 0; l < std::size(kCases); ++l) {
    SCOPED_TRACE(kCases[l].level);
    EXPECT_EQ(pool.levels[l].level, kCases[l].level);
    EXPECT_EQ(pool.levels[l].domains, kCases[l].domains);
    EXPECT_EQ(pool.levels[l].nodes, kCases[l].nodes);
    EXPECT_EQ(pool.levels[l].p99, kCases[l].p99);
    EXPECT_EQ(pool.levels[l].best, kCases[l].best);
    EXPECT_EQ(pool.levels[l].total, kCases[l].total);
  }
  const SpareLevel& all = pool.levels[0];
  EXPECT_NEAR(all.rho, 7.7619, 5e-5);
  EXPECT_NEAR(all.goodput_with, 0.9908, 5.1e-5);
  EXPECT_NEAR(all.idle_share, 18.0 / 2066, 1e-12);
  EXPECT_NEAR(all.waits_without, 0.9996, 5.1e-5);
  EXPECT_NEAR(all.reliability.checkpoint_interval_seconds, 1116.1, 0.05);
}

TEST(SparesReportTest, WholeDomainsAreCoveredByAsManySparesElsewhere) {
  FailureSources sources = Daily(3.79);
  sources.file = FailureFile{"rates.yaml", {}, {{"leaf", {0.4, 14'400}}}, 0};
  const SpareAdvice advice = AdviceOf(Scene(testing::H100Nodes(2048)), sources);
  const SpareLevel& all = advice.pools[0].levels[0];
  ASSERT_EQ(all.losses.size(), 2u);
  EXPECT_EQ(all.losses[0].level, "spine");
  EXPECT_EQ(all.losses[0].nodes, 512);
  EXPECT_FALSE(all.losses[0].covered);
  EXPECT_FALSE(all.losses[0].away);
  EXPECT_EQ(all.losses[1].level, "leaf");
  EXPECT_EQ(all.losses[1].nodes, 32);
  EXPECT_FALSE(all.losses[1].covered);
  // 64 leaves, 0.4 failures in 1,000 days, 4 h each: 0.43 % of the time; 14 more spares cost 0.7 %.
  EXPECT_NEAR(*all.losses[1].away, 64 * 0.4 / 1000 / 6, 1e-5);
  EXPECT_FALSE(all.losses[1].pays);
  sources.file->levels[0].rate.repair_seconds = 86'400;  // 2.5 % of the time
  EXPECT_TRUE(AdviceOf(Scene(testing::H100Nodes(2048)), sources).pools[0].levels[0].losses[1].pays);
  // Leaves of one node are covered by any spare.
  testing::FabricShape single = testing::H100Nodes(256);
  for (std::size_t n = 0; n < single.nodes.size(); ++n) {
    single.nodes[n].domains[1] = "l" + std::to_string(n);
  }
  EXPECT_TRUE(AdviceOf(Scene(single), Daily(3.79)).pools[0].levels[0].losses[1].covered);
}

TEST(SparesReportTest, FailuresOfWholeDomainsShortenTheCheckpointInterval) {
  FailureSources sources = Daily(3.79);
  const double before = AdviceOf(Scene(testing::H100Nodes(128)), sources)
                            .pools[0]
                            .levels[0]
                            .reliability.hours_between_failures;
  EXPECT_NEAR(24 / before, 0.48512, 1e-9);
  sources.file = FailureFile{"rates.yaml", {}, {{"spine", {2, 60}}, {"leaf", {0.4, 60}}}, 0};
  const SparePool pool = AdviceOf(Scene(testing::H100Nodes(128)), sources).pools[0];
  // One spine and four leaves; one leaf lies in one spine.
  EXPECT_NEAR(24 / pool.levels[0].reliability.hours_between_failures, 0.48512 + 0.0036, 1e-9);
  EXPECT_NEAR(24 / LevelOf(pool, "leaf").reliability.hours_between_failures, 0.12128 + 0.0024,
              1e-9);
}

TEST(SparesReportTest, AJobHasTheIntervalOfItsNodes) {
  Scene scene(testing::H100Nodes(256));
  scene.Job("wide", 128);
  scene.Job("halves", 8, 4);  // two workers a node
  const SpareAdvice advice = AdviceOf(scene, Daily(3.79));
  ASSERT_EQ(advice.jobs.size(), 2u);
  EXPECT_EQ(advice.jobs[0].job, "ns/wide");
  EXPECT_EQ(advice.jobs[0].nodes, 128);
  EXPECT_EQ(advice.jobs[0].best, 3);
  EXPECT_EQ(advice.jobs[0].level, "outside");
  EXPECT_FALSE(advice.jobs[0].held);
  const double wide = outlook::ReliabilityOf(128).checkpoint_interval_seconds;
  EXPECT_NEAR(advice.jobs[0].reliability.checkpoint_interval_seconds, wide, 1e-6);
  EXPECT_EQ(advice.jobs[1].nodes, 4);
}

TEST(SparesReportTest, AJobThatNeedsItsReplacementsNearHasSparesInEachOfItsDomains) {
  Scene scene(testing::H100Nodes(256));
  scene.Job("groups", 80).topology.groups = {{{traffic::Axis::kTensor}, "leaf", ""},
                                             {{traffic::Axis::kData}, "spine", ""}};
  scene.Job("anywhere", 4).topology.preferred = "leaf";
  const SpareAdvice advice = AdviceOf(scene, Daily(3.79));
  const SpareJob& groups = advice.jobs[0];
  EXPECT_EQ(groups.level, "leaf");
  EXPECT_EQ(groups.nodes, 80);
  EXPECT_EQ(groups.domains, 3);  // leaves of 32 nodes
  EXPECT_NEAR(groups.rho, 32 * 0.00379, 1e-12);
  EXPECT_EQ(groups.best, outlook::BestSpares(32, outlook::AwayNodes(32 * 0.00379), 3));
  const auto least = outlook::BestSpares(16, outlook::AwayNodes(16 * 0.00379), 3);
  EXPECT_EQ(groups.total, 2 * groups.best + least);
  EXPECT_EQ(advice.jobs[1].level, "outside");
  EXPECT_EQ(advice.jobs[1].domains, 1);
  EXPECT_TRUE(advice.pools[0].levels[0].required.empty());
  EXPECT_EQ(LevelOf(advice.pools[0], "leaf").required, std::vector<std::string>{"ns/groups"});
}

TEST(SparesReportTest, AJobWithAnUnknownLevelIsLeftOutWithItsField) {
  Scene scene(testing::FourNodes());
  scene.Job("lost", 2).topology.required = "shelf";
  const SpareAdvice advice = AdviceOf(scene);
  EXPECT_TRUE(advice.jobs.empty());
  ASSERT_EQ(advice.refused.size(), 1u);
  EXPECT_EQ(advice.refused[0].message,
            "jobs.yaml: TrainingJob ns/lost: spec.topology.required: unknown level \"shelf\"; weft "
            "fabric show names the levels of Fabric default");
}

TEST(SparesReportTest, AJobWhoseWorkersFitOnNoNodeIsLeftOutWithTheReason) {
  Scene scene(testing::FourNodes());
  scene.Job("wide", 2, 16);
  const SpareAdvice advice = AdviceOf(scene);
  EXPECT_TRUE(advice.jobs.empty());
  ASSERT_EQ(advice.refused.size(), 1u);
  EXPECT_FALSE(advice.refused[0].invalid);
  EXPECT_EQ(advice.refused[0].message,
            "jobs.yaml: TrainingJob ns/wide: no node of Fabric default has 16 nvidia.com/gpu for "
            "one of its workers");
}

TEST(SparesReportTest, EachProductHasItsOwnSpares) {
  const SpareAdvice advice = AdviceOf(Scene(testing::ThreeProducts()));
  ASSERT_EQ(advice.pools.size(), 3u);
  EXPECT_EQ(advice.pools[0].accelerator, "A100-80GB");
  EXPECT_EQ(advice.pools[0].nodes, 3);
  EXPECT_EQ(advice.pools[1].accelerator, "H100");
  EXPECT_EQ(advice.pools[1].nodes, 4);
  EXPECT_EQ(advice.pools[1].spot, 2);
  EXPECT_EQ(advice.pools[2].accelerator, "H200");
  EXPECT_EQ(LevelOf(advice.pools[0], "leaf").domains, 2);
  EXPECT_EQ(LevelOf(advice.pools[0], "leaf").nodes, 2);
}

TEST(SparesReportTest, ARateOfTheFabricIsNamedWithItsManifest) {
  Scene scene(testing::FourNodes());
  scene.inputs.fabrics[0].spec.failure_rates = {{"node", 2000, 86'400}};
  const cluster::Cluster cluster = scene.Build();
  const auto advice = AdviseSpares(cluster, {});
  ASSERT_FALSE(advice);
  EXPECT_EQ(advice.error().message,
            "fabric.yaml: Fabric default: spec.failureRates[0].per1000Days: so many failures, each "
            "away for 1 d, leave no time in which it runs");
}

TEST(SparesReportTest, JsonHasEveryLevelAndJob) {
  Scene scene(testing::H100Nodes(64));
  scene.Job("llama", 32);
  FailureSources sources = Daily(0);
  sources.file = FailureFile{"rates.yaml", {}, {{"leaf", {0, 3600}}}, 0};
  const Json json = Json(SparesJson(AdviceOf(scene, sources)));
  const Json never = Json::parse(R"({"level": "spine", "nodes": 64, "rho": 0.0, "p99": 0, "best": 0,
      "fabric": "default", "accelerator": "H100", "domains": 1, "spares": 0, "idleShare": 0.0,
      "waitsWithNone": 0.0, "waitsWithBest": 0.0, "goodputWithNone": 1.0, "goodputWithBest": 1.0,
      "losses": [{"level": "leaf", "nodes": 32, "covered": false, "awayShare": 0.0,
                  "sparesPay": false}]})");
  Json spine = json["levels"][1];
  EXPECT_EQ(spine["checkpointIntervalSeconds"].dump(), "null");  // no failure, no checkpoint
  spine.erase("checkpointIntervalSeconds");
  EXPECT_EQ(spine, never);
  EXPECT_EQ(json["levels"].size(), 3u);
  EXPECT_EQ(json["jobs"][0]["job"], "ns/llama");
  EXPECT_EQ(json["jobs"][0]["nodes"], 32);
  EXPECT_EQ(json["jobs"][0]["effectiveTimeShare"], 1);
  EXPECT_EQ(json["failures"], Json::parse(R"([{"fabric": "default",
      "node": {"failuresPer1000Days": 0.0, "repairSeconds": 86400.0}, "from": "--failures",
      "repairFrom": "--repair-seconds", "assumed": false, "shareWithoutNode": 0.0,
      "levels": {"leaf": {"failuresPer1000Days": 0.0, "repairSeconds": 3600.0}}}])"));
  EXPECT_EQ(json["assumed"],
            Json::parse(R"({"checkpointSeconds": 60.0, "restartSeconds": 600.0})"));
}

}  // namespace
}  // namespace weft::report
