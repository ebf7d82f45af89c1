#include "operator/report/queue.h"
#include "operator/cluster/build_cluster.h"
#include "operator/plan/plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/scene.h"

namespace weft::report {
namespace {

constexpr std::int64_t kReserveAfter = 600;

// Two leaves of two nodes with eight GPUs each; "busy" holds n0 for an hour.
struct Fleet : testing::Scene {
  Fleet() : testing::Scene(testing::Leaves({{8, 8}, {8, 8}})) {
    Job("busy", 1).expected_duration_seconds = 3600;
    inputs.jobs.Edit(0).attempt = 1;
    Placement("busy-1", 1, {"n0"});
  }

  std::vector<QueueRow> Queue(const std::string& space = "") const {
    api::Inputs all = inputs;
    const auto waiting = life::WaitingWorkloads(all, {});
    life::AddAsked(waiting, all);
    const Result<cluster::Cluster> cluster = cluster::BuildCluster(std::move(all));
    EXPECT_TRUE(cluster);
    plan::PlanOptions options;
    options.order = cluster::Order::kOperator;
    options.reserve_after_seconds = kReserveAfter;
    options.heed_queues = true;
    const auto report = plan::Plan(*cluster, options);
    EXPECT_TRUE(report);
    return MakeQueue(*cluster, *report, waiting, {space, kReserveAfter});
  }

  // A Workload of Kueue with one pod set for each count of pods; it has quota or not.
  api::Workload& Workload(const std::string& name, const std::vector<std::uint32_t>& counts,
                          bool reserved) {
    if (inputs.admission_checks.empty()) {
      inputs.admission_checks.emplace_back().meta.key.name = "place";
      inputs.admission_checks.back().controller = api::kCheckController;
    }
    api::Workload workload;
    workload.meta.key = {"ns", name};
    workload.meta.uid = name;
    workload.queue = "team";
    workload.checks = {{"place", api::CheckState::kPending, "", "", {}}};
    workload.conditions = {{"QuotaReserved", reserved ? "True" : "False", "", "8 more needed", ""}};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      api::PodSet set;
      set.name = "set" + std::to_string(i);
      set.count = counts[i];
      set.pod.requests = {{testing::kGpu, 8}};
      workload.pod_sets.push_back(set);
    }
    inputs.workloads.push_back(workload);
    return inputs.workloads.Edit(inputs.workloads.size() - 1);
  }
};

TEST(QueueTest, IsInTheOperatorsOrderWithStartsAndReasons) {
  Fleet fleet;
  fleet.Job("small", 1).meta.creation_timestamp = "2026-01-02T00:00:00Z";
  fleet.Job("whole", 4).meta.creation_timestamp = "2026-01-01T00:00:00Z";
  fleet.Job("huge", 5).meta.creation_timestamp = "2026-01-03T00:00:00Z";
  const auto queue = fleet.Queue();
  ASSERT_EQ(queue.size(), 3U);
  EXPECT_EQ(queue[0].key.name, "whole");
  EXPECT_EQ(queue[0].position, 1U);
  EXPECT_EQ(StartText(queue[0]), "unknown");  // "small" overtakes it and may run for ever
  EXPECT_EQ(queue[0].reason, "InsufficientCapacity");
  EXPECT_EQ(queue[0].accelerators, 32);
  EXPECT_EQ(queue[1].key.name, "small");
  EXPECT_EQ(StartText(queue[1]), "now");
  EXPECT_TRUE(queue[1].why.empty());
  EXPECT_EQ(queue[2].key.name, "huge");
  EXPECT_EQ(StartText(queue[2]), "never");
}

// A job that has no quota takes no room from those behind it.
TEST(QueueTest, AJobThatWaitsForQuotaSaysSoAndKeepsNobodyBack) {
  Fleet fleet;
  api::TrainingJob& first = fleet.Job("first", 3);
  first.meta.creation_timestamp = "2026-01-01T00:00:00Z";
  first.conditions = {{"Placed", "False", "QuotaPending", "queue a: 16 more needed", ""}};
  fleet.Job("second", 3).meta.creation_timestamp = "2026-01-02T00:00:00Z";
  const auto queue = fleet.Queue();
  ASSERT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue[0].key.name, "first");
  EXPECT_EQ(StartText(queue[0]), "unknown");
  EXPECT_EQ(queue[0].reason, "QuotaPending");
  EXPECT_EQ(queue[0].why, "queue a: 16 more needed");
  EXPECT_EQ(StartText(queue[1]), "now");
}

TEST(QueueTest, APlacementOfAWorkloadNeedsNoPods) {
  Fleet fleet;
  api::Placement& placement = fleet.Placement("job-main-1", 2);
  placement.pod_selector = fabric::LabelSelector{{{"weft.dev/placement", "job-main-1"}}, {}};
  placement.meta.owners = {{"kueue.x-k8s.io/v1beta2", "Workload", "job", "w", true}};
  const auto queue = fleet.Queue();
  ASSERT_EQ(queue.size(), 1U);
  EXPECT_EQ(StartText(queue[0]), "now") << queue[0].why;
}

// Names with positions: "1 a, - b".
std::string Order(const std::vector<QueueRow>& queue) {
  std::string text;
  for (const QueueRow& row : queue) {
    text += (text.empty() ? "" : ", ") + (row.position == 0 ? "-" : std::to_string(row.position)) +
            " " + row.key.name;
  }
  return text;
}

TEST(QueueTest, AWorkloadWithQuotaIsOneRowAmongTheOthers) {
  Fleet fleet;
  fleet.Workload("sets", {2, 1}, true).priority = 5;
  fleet.Job("job", 1);
  const auto queue = fleet.Queue();
  ASSERT_EQ(Order(queue), "1 sets, 2 job");
  EXPECT_EQ(queue[0].kind, "Workload");
  EXPECT_EQ(queue[0].workers, 3U);
  EXPECT_EQ(queue[0].accelerators, 24);
  EXPECT_EQ(queue[0].priority, 5);
  EXPECT_EQ(StartText(queue[0]), "now");
  EXPECT_EQ(queue[1].reason, "InsufficientCapacity");  // the Workload has taken the nodes
}

TEST(QueueTest, AWorkloadGetsNodesForAllItsPodSetsOrForNone) {
  Fleet fleet;
  fleet.Workload("sets", {2, 2}, true);
  const auto queue = fleet.Queue();
  ASSERT_EQ(Order(queue), "1 sets");
  EXPECT_EQ(queue[0].reason, "InsufficientCapacity");
  EXPECT_TRUE(queue[0].why.starts_with("Fabric \"default\" has room for")) << queue[0].why;
}

TEST(QueueTest, WorkloadsWithoutQuotaComeLastAndHaveNoPosition) {
  Fleet fleet;
  fleet.Workload("young", {4}, false).meta.creation_timestamp = "2026-01-02T00:00:00Z";
  fleet.Workload("old", {4}, false).meta.creation_timestamp = "2026-01-01T00:00:00Z";
  fleet.Workload("urgent", {4}, false).priority = 1;
  fleet.Workload("elsewhere", {4}, false).meta.key.space = "other";
  fleet.Job("job", 1);
  const auto queue = fleet.Queue("ns");
  ASSERT_EQ(Order(queue), "1 job, - urgent, - old, - young");
  EXPECT_EQ(StartText(queue[0]), "now");
  EXPECT_EQ(StartText(queue[1]), "unknown");
  EXPECT_EQ(queue[1].reason, "QuotaPending");
  EXPECT_EQ(queue[1].why, "queue team: 8 more needed");
  EXPECT_FALSE(QueueJson(queue, {}).at("queue").at(1).contains("position"));
}

TEST(QueueTest, SaysAfterWhichJobAndWhatWouldHelp) {
  Fleet fleet;
  fleet.Placement("held", 1, {"n2"});
  fleet.Job("pair", 2).topology.required = "leaf";
  const auto queue = fleet.Queue();
  ASSERT_EQ(queue.size(), 1U);
  EXPECT_EQ(StartText(queue[0]), "within 1 h, when ns/busy ends");
  EXPECT_TRUE(queue[0].why.starts_with("No single leaf has room")) << queue[0].why;
  EXPECT_EQ(queue[0].why.find("would fit"), std::string::npos) << queue[0].why;
  EXPECT_EQ(queue[0].sooner, (std::vector<std::string>{"topology.required: leaf -> spine"}));
}

TEST(QueueTest, OneNamespaceKeepsItsPositionsAmongAll) {
  Fleet fleet;
  fleet.Job("a", 4);
  fleet.Job("b", 4).meta.key.space = "other";
  const auto queue = fleet.Queue("other");
  ASSERT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue[0].position, 2U);
}

TEST(QueueTest, AsJsonItLeavesOutWhatIsUnknown) {
  Fleet fleet;
  fleet.Job("whole", 4);
  const auto json = QueueJson(fleet.Queue(), {}).at("queue").at(0);
  EXPECT_EQ(json.at("position"), 1);
  EXPECT_EQ(json.at("startsWithinSeconds"), 3600);
  EXPECT_EQ(json.at("startsAfter"), "ns/busy");
  EXPECT_FALSE(json.contains("waitedSeconds"));
  EXPECT_EQ(json.at("neverFits"), false);
}

}  // namespace
}  // namespace weft::report
