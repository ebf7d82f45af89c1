#include "operator/cluster/workload.h"

#include <gtest/gtest.h>

#include "operator/cluster/placement_pods.h"
#include "operator/cluster/pod_labels.h"
#include "tests/support/nodes_of.h"
#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

using Texts = std::vector<std::string>;

std::vector<WorkloadView> PendingOf(const Cluster& cluster, Order order = Order::kFile) {
  auto pending = PendingWorkloads(cluster, order);
  EXPECT_TRUE(pending);
  return *std::move(pending);
}

Texts NamesOf(const std::vector<WorkloadView>& workloads) {
  Texts names;
  for (const WorkloadView& workload : workloads) names.push_back(workload.PlacementName());
  return names;
}

void AddClass(testing::Scene& scene, const char* name, std::int64_t value,
              bool global_default = false) {
  api::PriorityClass one;
  one.meta.key.name = name;
  one.value = value;
  one.global_default = global_default;
  scene.inputs.priority_classes.push_back(one);
}

TEST(PendingWorkloads, HaveThePriorityOfTheirClassElseTheHighestDefault) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("named", 1).priority_class_name = "low";
  scene.Job("unknown", 1).priority_class_name = "gone";
  scene.Job("unnamed", 1);
  scene.Placement("p", 1);
  const auto priorities = [&] {
    const Cluster cluster = scene.Build();
    std::vector<std::int64_t> all;
    for (const WorkloadView& workload : PendingOf(cluster)) all.push_back(workload.priority);
    return all;
  };
  EXPECT_EQ(priorities(), (std::vector<std::int64_t>{0, 0, 0, 0}));
  AddClass(scene, "low", -5);
  AddClass(scene, "usual", 10, true);
  AddClass(scene, "usual too", 20, true);
  AddClass(scene, "high", 30);
  EXPECT_EQ(priorities(), (std::vector<std::int64_t>{-5, 0, 20, 20}));
}

TEST(PendingWorkloads, AreOrderedByPriorityAgeUidNameAndKind) {
  testing::Scene scene(testing::FourNodes());
  AddClass(scene, "high", 1);
  scene.Placement("same", 1);
  scene.Job("same", 1);
  scene.Job("other", 1);
  scene.Job("uid-b", 1).meta.uid = "b";
  scene.Job("uid-a", 1).meta.uid = "a";
  scene.Job("young", 1).meta.creation_timestamp = "2026-02-01T00:00:00Z";
  scene.Job("old", 1).meta.creation_timestamp = "2026-01-01T00:00:00Z";
  api::TrainingJob& high = scene.Job("high", 1);
  high.priority_class_name = "high";
  high.meta.creation_timestamp = "2026-03-01T00:00:00Z";
  const Cluster cluster = scene.Build();
  EXPECT_EQ(
      NamesOf(PendingOf(cluster, Order::kOperator)),
      (Texts{"high-1", "old-1", "young-1", "other-1", "same", "same-1", "uid-a-1", "uid-b-1"}));
  EXPECT_EQ(NamesOf(PendingOf(cluster)).front(), "same");
}

TEST(PendingWorkloads, AreNeitherDeletedNorReadWrongNorRunning) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("deleted", 1).meta.deleting = true;
  scene.Job("unreadable", 1).unreadable = "spec: is required";
  scene.Placement("deleted-too", 1).meta.deleting = true;
  scene.Placement("unreadable-too", 1).unreadable = "spec: is required";
  scene.Placement("placed", 1, {"n0"});
  for (const char* name : {"runs", "ended", "unbound", "first"}) {
    api::TrainingJob& job = scene.Job(name, 1);
    job.attempt = std::string(name) == "first" ? 0 : 1;
    job.conditions = {{"Placed", "True", "", "", ""}};
    scene.Pod(std::string(name) + "-0", "n1", {{"weft.dev/job-name", name}});
  }
  scene.inputs.pods.Edit(1).phase = api::PodPhase::kSucceeded;
  scene.inputs.pods.Edit(2).node_name = "";
  const Cluster cluster = scene.Build();
  EXPECT_EQ(NamesOf(PendingOf(cluster)), (Texts{"ended-2", "unbound-2", "first-1"}));
}

TEST(PendingWorkloads, APodOfAnEarlierAttemptOfAJobSetIsNoWorkerThatIsDone) {
  testing::Scene scene(testing::FourNodes());
  api::Placement& placement = scene.Placement("gang", 2);
  placement.pod_selector = fabric::LabelSelector{{{"gang", "gang"}}, {}};
  for (const char* attempt : {"0", "1"}) {
    scene.Pod(std::string("p-") + attempt, "", {{"gang", "gang"}, {kJobSetAttempt, attempt}});
  }
  scene.inputs.pods.Edit(0).phase = api::PodPhase::kSucceeded;
  scene.inputs.pods.Edit(0).meta.annotations.Set(kWorkerIndexLabel, "0");
  scene.inputs.pods.Edit(1).scheduling_gates = {api::kGate};
  const Cluster restarted = scene.Build();
  EXPECT_EQ(PendingOf(restarted).front().done_workers, 0u);
  scene.inputs.pods.Edit(0).meta.labels.Set(kJobSetAttempt, "1");
  const Cluster goes_on = scene.Build();
  EXPECT_EQ(PendingOf(goes_on).front().done_workers, 1u);
}

TEST(NeighbourOf, SaysWhichPodsAreBeingDeleted) {
  testing::Scene scene(testing::FourNodes());
  scene.Pod("runs", "n0");
  scene.Pod("ends", "n0").meta.deleting = true;
  EXPECT_FALSE(NeighbourOf(scene.inputs.pods[0]).ending);
  EXPECT_TRUE(NeighbourOf(scene.inputs.pods[1]).ending);
}

TEST(AllWorkloads, AreThoseThatAreNotFinished) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("suspended", 1).suspend = true;
  scene.Job("done", 1).conditions = {{"Failed", "True", "", "", ""}};
  scene.Job("placed", 1);
  scene.Placement("placed-1", 1, {"n0"});
  scene.Placement("mine", 1, {"n1"}).meta.deleting = true;
  const Cluster cluster = scene.Build();
  const auto all = AllWorkloads(cluster);
  ASSERT_TRUE(all);
  EXPECT_EQ(NamesOf(*all), (Texts{"suspended-1", "placed-1", "mine"}));
  EXPECT_EQ((*all)[2].position, 4u);
}

TEST(PendingWorkloads, HaveWhatTheOperatorKnowsAndNotWhatTheirAnnotationsSay) {
  testing::Scene scene(testing::FourNodes());
  api::TrainingJob& job = scene.Job("j", 1);
  job.wait = {{"a", "b"}, {"c"}, {"d"}, 0};
  job.meta.annotations = {{api::kExcludedNodesAnnotation, "n0"}, {api::kWaitedAnnotation, "x"}};
  const Cluster cluster = scene.Build();
  EXPECT_EQ(PendingOf(cluster).front().wait, job.wait);
}

// By that of its Workload Kueue preempts others.
TEST(PendingWorkloads, OfAQueueHaveThePriorityOfTheirWorkload) {
  testing::Scene scene(testing::FourNodes());
  AddClass(scene, "high", 7);
  scene.Job("j", 1).priority_class_name = "high";
  scene.inputs.jobs.Edit(0).meta.uid = "u1";
  api::Workload workload;
  workload.meta.owners = {{"weft.dev/v1alpha1", "TrainingJob", "j", "u1", true}};
  workload.priority = 1'000;
  scene.inputs.workloads.push_back(workload);
  EXPECT_EQ(PendingOf(scene.Build()).front().priority, 1'000);
  scene.inputs.workloads.Edit(0).meta.deleting = true;
  EXPECT_EQ(PendingOf(scene.Build()).front().priority, 7);
}

TEST(PendingWorkloads, OfASelectorAskForTheMostOfEachResource) {
  testing::Scene scene(testing::FourNodes());
  AddClass(scene, "high", 7);
  scene.Placement("p", 3).pod_selector = fabric::LabelSelector{{{"a", "b"}}, {}};
  const auto gated = [&](const char* name, fabric::Resources requests) -> api::Pod& {
    api::Pod& pod = scene.Pod(name, "", {{"a", "b"}});
    pod.scheduling_gates = {api::kGate};
    pod.pod.requests = std::move(requests);
    return pod;
  };
  gated("y", {{testing::kGpu, 4}, {"cpu", 3000}}).pod.node_selector = {{"pool", "y"}};
  api::Pod& first = gated("x", {{testing::kGpu, 8}, {"cpu", 1000}});
  first.pod.node_selector = {{"pool", "x"}};
  first.priority_class_name = "high";
  gated("w", {{testing::kGpu, 100}}).meta.deleting = true;
  gated("v", {{testing::kGpu, 100}}).node_name = "n0";
  const Cluster cluster = scene.Build();
  const WorkloadView workload = PendingOf(cluster).front();
  EXPECT_EQ(workload.gated_pods, 2u);
  EXPECT_EQ(workload.pod.requests, (fabric::Resources{{testing::kGpu, 8}, {"cpu", 3000}}));
  EXPECT_EQ(workload.pod.node_selector, (decltype(workload.pod.node_selector){{"pool", "x"}}));
  EXPECT_EQ(workload.priority, 7);
  EXPECT_EQ(workload.no_gang, "");
}

TEST(PendingWorkloads, OfAPlacementWithoutPodsAskForItsAccelerators) {
  testing::Scene scene(testing::FourNodes());
  scene.Placement("p", 1);
  scene.Placement("q", 1).pod_selector = fabric::LabelSelector{{{"a", "b"}}, {}};
  const Cluster cluster = scene.Build();
  for (const WorkloadView& workload : PendingOf(cluster)) {
    EXPECT_EQ(workload.pod.requests, (fabric::Resources{{testing::kGpu, 8}}));
    EXPECT_EQ(workload.gated_pods, 0u);
    EXPECT_EQ(workload.kind(), "Placement");
  }
}

// The Workload has one priority, by which Kueue decides, and its pods have another.
TEST(PendingWorkloads, PodsThatAWorkloadWillMakeHaveThePriorityOfTheirClass) {
  testing::Scene scene(testing::FourNodes());
  AddClass(scene, "high", 7);
  scene.Placement("p", 1).proposal = api::Proposal{.pod = {},
                                                   .pod_set = "main",
                                                   .bundle = "b",
                                                   .priority = 3,
                                                   .claims = {},
                                                   .priority_class_name = "high"};
  const Cluster cluster = scene.Build();
  const WorkloadView workload = PendingOf(cluster).front();
  EXPECT_EQ(workload.priority, 3);
  EXPECT_EQ(workload.pod_priority, 7);
}

// The gang of another controller, which lost Weft's gate when it was pinned.
TEST(AllWorkloads, AGangThatRunsHasTheRequirementsOfItsPodsWithoutTheirNode) {
  testing::Scene scene(testing::FourNodes());
  scene.Placement("mine", 1, {"n0"}).pod_selector = fabric::LabelSelector{{{"app", "x"}}, {}};
  rules::PodRequirements& pod = scene.Pod("p", "n0", {{"app", "x"}}).pod;
  pod.node_name = "n0";
  pod.node_selector = {{"disk", "ssd"}};
  pod.tolerations = {{"gpu", "Exists", "", "NoSchedule"}};
  pod.required_affinity.emplace(1);
  pod.required_affinity->front().match_fields.push_back({"metadata.name", "In", {"n0"}});
  const Cluster cluster = scene.Build();
  const auto all = AllWorkloads(cluster);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1U);
  const rules::PodRequirements& taken = all->front().pod;
  EXPECT_EQ(taken.node_name, "");
  EXPECT_EQ(taken.node_selector, (std::map<std::string, std::string>{{"disk", "ssd"}}));
  EXPECT_EQ(taken.tolerations.size(), 1U);
  EXPECT_FALSE(taken.required_affinity);
}

TEST(Claims, OfAWorkloadAreGivenBack) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("j", 2);
  Cluster cluster = scene.Build();
  const WorkloadView workload = PendingOf(cluster).front();
  const std::vector<fabric::NodeIndex> nodes = testing::NodesOf({0, 2});
  AddClaims(workload, nodes, cluster.fabrics[0].claims);
  EXPECT_EQ(testing::FreeGpus(cluster), (std::vector<std::int64_t>{0, 8, 0, 8}));
  RemoveClaims(workload, nodes, cluster.fabrics[0].claims);
  EXPECT_EQ(testing::FreeGpus(cluster), (std::vector<std::int64_t>{8, 8, 8, 8}));
}

}  // namespace
}  // namespace weft::cluster
