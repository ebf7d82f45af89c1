#include "operator/simulate/dispatcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "operator/base/timestamp.h"
#include "operator/plan/plan.h"
#include "operator/simulate/run.h"
#include "tests/unit/simulate/fleet_scene.h"

namespace weft::simulate {
namespace {

// The same jobs as the operator's planner would start them, if each of its passes saw the whole
// cluster at the time of an event: without a skipped job, a cache or a queue of shapes.
class PlannerOracle {
 public:
  PlannerOracle(const testing::FabricShape& shape, const std::vector<TestJob>& jobs)
      : shape_(shape), jobs_(jobs) {}

  std::string Run() {
    std::set<std::int64_t> times;
    for (const TestJob& job : jobs_) {
      times.insert(job.arrival);
      times.insert(job.arrival + kReserve);
    }
    while (!times.empty()) {
      const std::int64_t now = *times.begin();
      times.erase(times.begin());
      std::erase_if(ends_, [&](const auto& one) { return one.second <= now; });
      for (const std::int64_t end : Pass(now)) times.insert(end);
    }
    return text_;
  }

 private:
  static constexpr std::int64_t kReserve = 600;

  cluster::Cluster ClusterAt(std::int64_t now) const {
    testing::Scene scene(shape_);
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      const TestJob& job = jobs_[j];
      const bool runs = ends_.contains(j);
      if (job.arrival > now || (nodes_.contains(j) && !runs)) continue;
      api::TrainingJob& made = scene.Job(job.name, job.workers, job.gpus);
      made.meta.uid = testing::Numbered("u", j, jobs_.size());
      made.meta.creation_timestamp = FormatTime(job.arrival);
      made.topology.required = job.required;
      made.expected_duration_seconds = job.expected;
      if (!runs) {
        made.wait.waited_seconds = now - job.arrival;
        continue;
      }
      if (job.expected) {
        made.expected_duration_seconds =
            std::max<std::int64_t>(0, started_.at(j) + *job.expected - now);
      }
      made.attempt = 1;
      api::Placement& placement = scene.Placement(job.name + "-1", job.workers, nodes_.at(j));
      placement.accelerator = {testing::kGpu, job.gpus};
    }
    return scene.Build();
  }

  // Returns the ends of the jobs that start.
  std::vector<std::int64_t> Pass(std::int64_t now) {
    const cluster::Cluster cluster = ClusterAt(now);
    plan::PlanOptions options;
    options.order = cluster::Order::kOperator;
    options.reserve_after_seconds = kReserve;
    options.best = false;
    options.explained_refusals = 8;
    const auto report = plan::Plan(cluster, options);
    EXPECT_TRUE(report);
    std::vector<std::int64_t> ends;
    std::vector<const plan::PlanEntry*> decided;
    for (const plan::PlanEntry& entry : report->entries) decided.push_back(&entry);
    std::sort(decided.begin(), decided.end(), [](const auto* a, const auto* b) {
      return a->workload.meta->uid < b->workload.meta->uid;
    });
    for (const plan::PlanEntry* entry : decided) {
      if (entry->placed() == nullptr) continue;
      std::size_t j = 0;
      while (jobs_[j].name != entry->workload.key().name) ++j;
      const std::int64_t end = now + jobs_[j].run;
      text_ += (text_.empty() ? "" : "; ") + jobs_[j].name + " " + std::to_string(now) + "-" +
               std::to_string(end);
      for (const fabric::NodeIndex node : entry->placed()->plan.nodes) {
        const std::string& name = cluster.fabrics.front().fabric->node(node).name;
        nodes_[j].push_back(name);
        text_ += " " + name;
      }
      started_[j] = now;
      ends_[j] = end;
      ends.push_back(end);
    }
    return ends;
  }

  const testing::FabricShape& shape_;
  const std::vector<TestJob>& jobs_;
  std::map<std::size_t, std::vector<std::string>> nodes_;
  std::map<std::size_t, std::int64_t> started_, ends_;
  std::string text_;
};

std::vector<TestJob> RandomJobs(std::uint64_t seed, int count) {
  SplitMix64 random(seed);
  std::vector<TestJob> jobs;
  std::int64_t now = 0;
  for (int j = 0; j < count; ++j) {
    now += static_cast<std::int64_t>(random.Below(120));
    TestJob job;
    job.name = testing::Numbered("j", static_cast<std::size_t>(j), static_cast<std::size_t>(count));
    job.arrival = now;
    job.run = static_cast<std::int64_t>(1 + random.Below(1500));
    const std::uint64_t kind = random.Below(8);
    job.workers = static_cast<std::uint32_t>(kind < 5 ? 1 : 1 + random.Below(5));
    job.gpus = job.workers > 1 ? 8 : static_cast<std::uint32_t>(1U << random.Below(4));
    if (kind == 7) job.required = "leaf";
    if (job.required == "leaf") job.workers = std::min(job.workers, 3U);
    // Most estimates are true, some are short or long, some are missing.
    const std::uint64_t estimate = random.Below(6);
    if (estimate < 4) job.expected = job.run;
    if (estimate == 4) job.expected = job.run * 2;
    jobs.push_back(job);
  }
  return jobs;
}

TEST(Dispatcher, StartsWhatTheOperatorsPlanStartsEventByEvent) {
  const testing::FabricShape shape = testing::Leaves({{8, 8, 8}, {8, 8, 8}});
  int reserved = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::vector<TestJob> jobs = RandomJobs(seed, 60);
    const FleetScene scene(shape, jobs);
    const std::string simulated = scene.Run();
    ASSERT_EQ(simulated, PlannerOracle(shape, jobs).Run()) << "seed " << seed;
    DispatchRules any;
    any.backfill = Backfill::kAny;
    reserved += simulated != scene.Run(any) ? 1 : 0;
  }
  EXPECT_GT(reserved, 6) << "too few of these queues have a reservation that matters";
}

}  // namespace
}  // namespace weft::simulate
