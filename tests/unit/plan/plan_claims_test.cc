#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "operator/plan/plan.h"
#include "operator/plan/plan_report.h"
#include "tests/support/card_scene.h"

namespace weft::plan {
namespace {

using testing::CardScene;

// Sorted.
std::vector<std::string> NodesOf(const cluster::Cluster& cluster, const PlanEntry& entry) {
  std::vector<std::string> nodes;
  if (entry.placed() == nullptr) return nodes;
  for (const auto node : entry.placed()->plan.nodes) {
    nodes.push_back(cluster.fabrics[0].fabric->node(node).name);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

TEST(Plan, PlacesWorkersWhereTheirNetworkCardsAre) {
  CardScene scene;
  scene.Template({CardScene::Exactly({{"count", 2}})});
  scene.CardsOn("n1", 4);
  scene.CardsOn("n2", 4);
  api::TrainingJob& second = scene.Job("second", 1, 1);
  second.claims = {{"", "cards"}};
  const cluster::Cluster cluster = scene.Build();
  const auto report = Plan(cluster);
  ASSERT_TRUE(report);
  EXPECT_EQ(NodesOf(cluster, report->entries[0]),
            (std::vector<std::string>{"n1", "n1", "n2", "n2"}));
  // The first job's workers have all cards.
  ASSERT_NE(report->entries[1].refused(), nullptr);
  const std::string& why = report->entries[1].refused()->message;
  EXPECT_NE(why.find("deviceclass.resource.kubernetes.io/nic"), why.npos) << why;
}

TEST(Plan, KeepsWorkersOnTheNodeOfTheirAllocatedClaim) {
  CardScene scene;
  scene.inputs.jobs.Edit(0).claims = {{"shared", ""}};
  scene.Claim("shared", "n2", {"nic-0"});
  scene.inputs.resource_claims.Edit(0).node_name = "n2";
  const cluster::Cluster cluster = scene.Build();
  const auto report = Plan(cluster);
  ASSERT_TRUE(report);
  EXPECT_EQ(NodesOf(cluster, report->entries[0]),
            (std::vector<std::string>{"n2", "n2", "n2", "n2"}));
}

// kube-scheduler preempts for the pod there.
TEST(Plan, ANominatedPodKeepsItsRoomFromPodsOfNoHigherPriority) {
  const auto node = [](std::int64_t of_pod, std::int64_t of_job) -> std::string {
    testing::Scene scene(testing::FourNodes());
    for (const char* busy : {"n0", "n1", "n2"}) scene.Pod(std::string("p-") + busy, busy);
    api::Pod& pod = scene.Pod("q", "");
    pod.nominated_node = "n3";
    pod.priority = of_pod;
    api::PriorityClass own;
    own.meta.key.name = "own";
    own.value = of_job;
    scene.inputs.priority_classes.push_back(own);
    scene.Job("a", 1).priority_class_name = "own";
    const cluster::Cluster cluster = scene.Build();
    const auto report = Plan(cluster);
    const Placed* placed = report->entries[0].placed();
    EXPECT_EQ(ClaimsBefore(cluster, *report, 0).free_accelerators(fabric::NodeIndex{3}),
              placed == nullptr ? 0 : 8);
    return placed == nullptr ? "none"
                             : cluster.fabrics[0].fabric->node(placed->plan.nodes.front()).name;
  };
  EXPECT_EQ(node(1000, 500), "none");
  EXPECT_EQ(node(500, 500), "none");
  EXPECT_EQ(node(100, 500), "n3");
}

// It may never come: a job that must be beside it waits.
TEST(Plan, ANominatedPodIsNoCompany) {
  testing::Scene scene(testing::FourNodes());
  api::Pod& pod = scene.Pod("q", "", {{"app", "x"}});
  pod.nominated_node = "n3";
  pod.pod.requests.clear();
  fabric::PodTerm beside;
  beside.topology_key = "test/leaf";
  beside.selector = fabric::LabelSelector{{{"app", "x"}}, {}};
  fabric::PodTerms terms;
  terms.affinity = {beside};
  scene.Job("a", 1).pod.terms = terms;
  const auto placed = [&](bool runs) {
    scene.inputs.pods.Edit(0).node_name = runs ? "n3" : "";
    const cluster::Cluster cluster = scene.Build();
    return Plan(cluster)->entries[0].placed() != nullptr;
  };
  EXPECT_FALSE(placed(false));
  EXPECT_TRUE(placed(true));
}

// Jobs are not always decided by the priority of their pods.
TEST(Plan, ANominatedPodKeepsItsRoomFromSomeJobsOnly) {
  testing::Scene scene(testing::FourNodes());
  for (const char* busy : {"n0", "n1", "n2"}) scene.Pod(std::string("p-") + busy, busy);
  api::Pod& pod = scene.Pod("q", "");
  pod.nominated_node = "n3";
  pod.priority = 500;
  api::PriorityClass high;
  high.meta.key.name = "high";
  high.value = 1000;
  scene.inputs.priority_classes.push_back(high);
  scene.Job("low", 1);
  scene.Job("high", 1).priority_class_name = "high";
  const cluster::Cluster cluster = scene.Build();
  const auto report = Plan(cluster);
  ASSERT_EQ(report->entries.size(), 2U);
  EXPECT_EQ(report->entries[0].placed(), nullptr);
  EXPECT_NE(report->entries[1].placed(), nullptr);
  EXPECT_EQ(ClaimsBefore(cluster, *report, 1).free_accelerators(fabric::NodeIndex{3}), 8);
}

}  // namespace
}  // namespace weft::plan
