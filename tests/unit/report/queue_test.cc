#include "operator/report/queue.h"
#include "operator/cluster/build_cluster.h"
#include "operator/plan/plan.h"

#include <gtest/gtest.h>

#include <functional>
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

// A PodGroup "name" of another controller with so many pods of eight GPUs, which wait.
void AddGroup(Fleet& fleet, const std::string& name, int pods, std::int64_t least) {
  api::PodGroup group;
  group.meta.key = {"ns", name};
  group.min_count = least;
  group.message = "minCount cannot be satisfied";
  fleet.inputs.pod_groups.push_back(group);
  for (int p = 0; p < pods; ++p) {
    api::Pod& pod = fleet.Pod(name + "-" + std::to_string(p), "");
    pod.pod.requests = {{testing::kGpu, 8}};
    pod.pod_group = name;
    pod.meta.owners = {{"example.com/v1", "Trial", name, name, true}};
  }
}

TEST(QueueTest, PodGroupsOfOthersThatWaitAreDemand) {
  Fleet fleet;
  fleet.Job("job", 1);
  fleet.inputs.priority_classes.emplace_back();
  fleet.inputs.priority_classes.back().meta.key.name = "high";
  fleet.inputs.priority_classes.back().value = 7;
  AddGroup(fleet, "late", 3, 2);
  AddGroup(fleet, "urgent", 2, 2);
  AddGroup(fleet, "short", 1, 4);
  const std::size_t first = fleet.inputs.pods.size() - 3;
  for (std::size_t p = first; p < first + 2; ++p) {
    fleet.inputs.pods.Edit(p).priority_class_name = "high";
  }
  const auto queue = fleet.Queue();
  ASSERT_EQ(Order(queue), "1 job, - urgent, - late, - short");
  EXPECT_EQ(StartText(queue[0]), "now");
  EXPECT_EQ(queue[1].kind, "PodGroup");
  EXPECT_EQ(queue[1].priority, 7);
  EXPECT_EQ(queue[2].workers, 3U);
  EXPECT_EQ(queue[2].accelerators, 24);
  EXPECT_EQ(queue[2].reason, "Unschedulable");
  EXPECT_EQ(queue[2].why, "minCount cannot be satisfied");
  EXPECT_EQ(StartText(queue[2]), "unknown");
  EXPECT_EQ(queue[3].reason, "WaitingForPods");
  EXPECT_EQ(queue[3].why, "1 pod of 4 exists");
  EXPECT_TRUE(fleet.Queue("other").empty());
}

TEST(QueueTest, PodGroupsThatAreNoDemandOfTheirOwnAreNoRows) {
  const auto rows_with = [](const std::function<void(api::Inputs&, api::Pod&)>& change) {
    Fleet fleet;
    AddGroup(fleet, "g", 2, 2);
    change(fleet.inputs, fleet.inputs.pods.Edit(fleet.inputs.pods.size() - 1));
    return Order(fleet.Queue());
  };
  EXPECT_EQ(rows_with([](auto&, api::Pod&) {}), "- g");
  EXPECT_EQ(rows_with([](auto&, api::Pod& pod) { pod.node_name = "n1"; }), "") << "it has begun";
  EXPECT_EQ(rows_with([](auto&, api::Pod& pod) { pod.scheduling_gates = {api::kGate}; }), "")
      << "Weft places it";
  EXPECT_EQ(rows_with([](auto&, api::Pod& pod) {
              pod.meta.owners = {{"weft.dev/v1alpha1", "TrainingJob", "busy", "", true}};
            }),
            "");
  EXPECT_EQ(rows_with([](api::Inputs& inputs, auto&) { inputs.pod_groups.Edit(0).min_count = 0; }),
            "")
      << "its pods start one by one";
  EXPECT_EQ(rows_with([](api::Inputs& inputs, auto&) {
              for (std::size_t p = 0; p < inputs.pods.size(); ++p) {
                inputs.pods.Edit(p).pod.requests = {{"cpu", 8}};
              }
            }),
            "");
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
