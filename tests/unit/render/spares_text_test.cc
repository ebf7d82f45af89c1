#include "operator/render/spares_text.h"

#include <gtest/gtest.h>

#include "tests/unit/render/planned.h"

namespace weft::render {
namespace {

using outlook::AwayNodes;
using report::SpareLevel;

SpareLevel Level(const char* name, std::int64_t domains, std::int64_t nodes) {
  const outlook::AwayRate rate{3.79, 86'400};
  const auto count = static_cast<double>(nodes);
  const AwayNodes away(count, rate);
  SpareLevel level;
  level.level = name;
  level.domains = domains;
  level.nodes = nodes;
  level.rho = away.rho();
  level.p99 = away.SparesFor(outlook::kRarely);
  level.best = outlook::BestSpares(count, away);
  level.total = level.best * domains;
  level.idle_share = static_cast<double>(level.total) / static_cast<double>(2048 + level.total);
  level.waits_without = away.MoreThan(0);
  level.waits_with = away.MoreThan(level.best);
  level.reliability = outlook::ReliabilityAt(count * 3.79);
  return level;
}

// 2,048 nodes in leaves of 16, four leaves a pod.
report::SpareAdvice Fleet() {
  report::SpareAdvice advice;
  report::SparePool pool;
  pool.fabric = "default";
  pool.accelerator = "H100";
  pool.nodes = 2048;
  pool.levels = {Level("outside", 1, 2048), Level("spine", 4, 512), Level("leaf", 128, 16)};
  pool.levels[0].losses = {{"spine", 512, false, {}, false}, {"leaf", 16, true, {}, false}};
  pool.levels[1].losses = {{"leaf", 16, false, {}, false}};
  advice.pools = {pool};
  report::FailureModel model;
  model.node = {3.79, 86'400};
  model.from = "--failures";
  advice.failures = {{"default", model}};
  return advice;
}

bool Holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(SparesTextTest, ATableOfLevelsAndWhereToKeepHowManySpares) {
  EXPECT_EQ(
      SparesText(Fleet(), Plain(100)),
      "LEVEL    DOMAINS  NODES  AWAY  P99  BEST  SPARES    IDLE  WAITS WITHOUT  WAITS WITH  COVERS "
      "  "
      "         CHECKPOINT\n"
      "outside        1  2,048  7.76   15    18      18  0.87 %        99.96 %      0.05 %  18 "
      "nodes,"
      " 1 leaf    18.6 min\n"
      "spine          4    512  1.94    6     7      28   1.3 %         85.6 %      0.09 %  7 "
      "nodes  "
      "           37.9 min\n"
      "leaf         128     16  0.06    1     0       0     0 %          5.9 %       5.9 %  -      "
      "  "
      "            217 min\n"
      "\n"
      "Keep 18 spare nodes anywhere in the fabric: they are 0.87 % of the nodes, and a job on all "
      "2,048\n"
      "  nodes then waits for a node 0.05 % of the time; without spares 99.96 %.\n"
      "To replace nodes nearer, keep 7 spare nodes in each spine, 28 in all: 1.3 % of the nodes.\n"
      "The loss of a whole spine (512 nodes) is not covered: that takes 512 spares outside it, "
      "20.0 % of\n"
      "  the nodes.\n"
      "The loss of a whole leaf (16 nodes) is covered, if 16 spares lie outside it.\n"
      "\n"
      "Counted with 3.79 failures in 1,000 days of a node, each away for 1 d (--failures; time of "
      "repair\n"
      "  assumed).\n"
      "AWAY: nodes of a domain that are away on average; more than P99 are away at most 1 % of the "
      "time;\n"
      "  BEST gets the most work out of the domain; WAITS: the share of the time in which a job on "
      "all its\n"
      "  nodes lacks one; CHECKPOINT: the interval that loses least, if a checkpoint stops the "
      "training for\n"
      "  60 s and a restart takes 10 min (assumed).\n"
      "operator/docs/survive.md explains these numbers.\n");
}

TEST(SparesTextTest, JobsThatNeedTheirReplacementsNearHaveSparesThere) {
  report::SpareAdvice advice = Fleet();
  report::SpareJob job;
  job.job = "a/one";
  job.level = "leaf";
  job.domains = 16;
  job.nodes = 256;
  advice.jobs = {job};
  EXPECT_FALSE(Holds(SparesText(advice, Plain(400)), "can replace"));  // none pays
  advice.jobs[0].best = 2;
  advice.jobs[0].total = 2 * advice.jobs[0].domains;
  EXPECT_TRUE(Holds(SparesText(advice, Plain(400)),
                    "a/one can replace a node only in the same leaf, by topology.required of the "
                    "job or of a group: keep 2 spare nodes in each leaf that it uses, 32 in "
                    "all.\n"))
      << SparesText(advice, Plain(400));
  advice.jobs[0].domains = advice.jobs[0].best = advice.jobs[0].total = 1;
  EXPECT_TRUE(Holds(SparesText(advice, Plain(400)), "keep 1 spare node in its leaf.\n"));
}

TEST(SparesTextTest, OfWholeDomainsItSaysWhetherSparesPay) {
  report::SpareAdvice advice = Fleet();
  report::DomainLoss& leaf = advice.pools[0].levels[0].losses[1];
  leaf.nodes = 32;
  leaf.covered = false;
  leaf.away = 0.0253;
  leaf.pays = true;
  EXPECT_TRUE(Holds(SparesText(advice, Plain(400)),
                    "The loss of a whole leaf (32 nodes) is not covered: that takes 32 spares "
                    "outside it, 1.5 % of the nodes. By its rate some leaf is away 2.5 % of the "
                    "time, so that they pay.\n"))
      << SparesText(advice, Plain(400));
  leaf.pays = false;
  EXPECT_TRUE(Holds(SparesText(advice, Plain(400)), "so that they do not pay.\n"));
}

TEST(SparesTextTest, JobsHaveTheirIntervals) {
  report::SpareAdvice advice = Fleet();
  report::SpareJob job;
  job.job = "team-a/llama";
  job.nodes = 128;
  job.p99 = job.best = 3;
  job.level = "spine";
  job.reliability = outlook::ReliabilityOf(128);
  advice.jobs = {job};
  job.job = "team-a/never";
  job.level = "outside";
  job.reliability = outlook::ReliabilityAt(0);
  advice.jobs.push_back(job);
  EXPECT_TRUE(
      Holds(SparesText(advice, Plain(400)),
            "JOB           NODES  FAILS EVERY  CHECKPOINT  TRAINS  P99  BEST  REPLACED IN\n"
            "team-a/llama    128       49.5 h    76.4 min  97.1 %    3     3  the same spine\n"
            "team-a/never    128        never       never   100 %    3     3  the fabric\n"))
      << SparesText(advice, Plain(400));
}

TEST(SparesTextTest, SaysWhatTheRatesAreAndWhatTheyLeaveOut) {
  report::SpareAdvice advice = Fleet();
  report::FailureModel& model = advice.failures[0].model;
  model.levels = {{"leaf", {0.4, 14'400}}};
  model.share_without_node = 0.75;
  model.from = model.repair_from = "rates.yaml";
  advice.pools[0].unusable = 1;
  advice.pools[0].spot = 2;
  const std::string text = SparesText(advice, Plain(400));
  EXPECT_TRUE(Holds(text,
                    "Counted with 3.79 failures in 1,000 days of a node, each away for 1 d "
                    "(rates.yaml); 0.4 failures in 1,000 days of a whole leaf, each away for 4 h. "
                    "After 75.0 % of the nodes' failures the node is used again at once.\n"))
      << text;
  EXPECT_TRUE(Holds(text,
                    "Now 1 of 2,048 nodes is not usable; by these rates 7.76 are away on "
                    "average.\n"))
      << text;
  EXPECT_TRUE(Holds(text,
                    "2 of 2,048 nodes are spot capacity; what its cloud takes away is not "
                    "counted here.\n"))
      << text;
  model.assumed = true;
  EXPECT_TRUE(Holds(SparesText(advice, Plain(400)), "(assumed: Llama 3 405B, 2024; --failures"));
}

TEST(SparesTextTest, PoolsOfSeveralProductsHaveTitles) {
  report::SpareAdvice advice = Fleet();
  advice.pools.push_back(advice.pools[0]);
  advice.pools[1].accelerator = "B200\x1b[31m";
  const std::string text = SparesText(advice, Plain(100));
  EXPECT_EQ(text.find("Fabric default, H100:\n"), 0u);
  EXPECT_TRUE(Holds(text, "\nFabric default, B200?[31m:\n"));
}

}  // namespace
}  // namespace weft::render
