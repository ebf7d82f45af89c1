#include "operator/fabric/elsewhere.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

// The pods that the Fabric sees elsewhere, with their nodes: "p on cpu".
std::vector<std::string> SeenFrom(const ClusterFabric& on, const api::Inputs& inputs) {
  std::vector<std::string> seen;
  on.claims.elsewhere().EachPod([&](const fabric::Elsewhere::PodAt& at) {
    for (const api::Pod& pod : inputs.pods) {
      if (at.pod.labels != &pod.meta.labels) continue;
      seen.push_back(pod.meta.key.name + " on " + at.node.facts->name);
    }
  });
  return seen;
}

std::vector<std::string> NodesSeenFrom(const ClusterFabric& on) {
  std::vector<std::string> seen;
  on.claims.elsewhere().EachNode(
      [&](const fabric::Elsewhere::NodeAt& at) { seen.push_back(at.facts->name); });
  std::sort(seen.begin(), seen.end());
  return seen;
}

void AddCpuNode(testing::Scene& scene, const std::string& name) {
  api::Node node;
  node.meta.key.name = node.facts.name = name;
  scene.inputs.nodes.push_back(node);
}

TEST(BuildCluster, ShowsAFabricThePodsOfNodesThatItLacks) {
  testing::Scene scene(testing::FourNodes());
  AddCpuNode(scene, "cpu");
  scene.Pod("inside", "n0");
  scene.Pod("outside", "cpu");
  scene.Pod("ended", "cpu").phase = api::PodPhase::kSucceeded;
  scene.Pod("unbound", "");
  scene.Pod("lost", "no-such-node");
  const Cluster cluster = scene.Build();
  EXPECT_EQ(SeenFrom(cluster.fabrics[0], *cluster.inputs),
            std::vector<std::string>{"outside on cpu"});
  EXPECT_EQ(NodesSeenFrom(cluster.fabrics[0]), std::vector<std::string>{"cpu"});
}

TEST(BuildCluster, ShowsAFabricThePodsOfOtherFabrics) {
  testing::Scene scene(testing::FourNodes());
  api::Fabric other = scene.inputs.fabrics[0];
  for (api::Fabric* one : {&scene.inputs.fabrics[0], &other}) {
    one->spec.node_selector =
        fabric::LabelSelector{{{"test/leaf", one == &other ? "l1" : "l0"}}, {}};
  }
  other.meta.key.name = "other";
  scene.inputs.fabrics.push_back(other);
  AddCpuNode(scene, "cpu");
  scene.Pod("zero", "n0");
  scene.Pod("three", "n3");
  scene.Pod("outside", "cpu");
  const Cluster cluster = scene.Build();
  ASSERT_EQ(cluster.fabrics.size(), 2U);
  EXPECT_EQ(SeenFrom(cluster.fabrics[0], *cluster.inputs),
            (std::vector<std::string>{"three on n3", "outside on cpu"}));
  EXPECT_EQ(SeenFrom(cluster.fabrics[1], *cluster.inputs),
            (std::vector<std::string>{"zero on n0", "outside on cpu"}));
  EXPECT_EQ(NodesSeenFrom(cluster.fabrics[0]), (std::vector<std::string>{"cpu", "n2", "n3"}));
}

// Workers of a Placement whose pods are still to come.
TEST(BuildCluster, ShowsAFabricTheComingWorkersOfOthers) {
  testing::Scene scene(testing::FourNodes());
  AddCpuNode(scene, "cpu");
  scene.Job("j", 1).pod.labels = {{"app", "j"}};
  scene.Placement("j-1", 1, {"cpu"}).meta.labels = {{"weft.dev/job-name", "j"}};
  const Cluster cluster = scene.Build();
  std::size_t seen = 0;
  cluster.fabrics[0].claims.elsewhere().EachPodIn("ns", [&](const fabric::Elsewhere::PodAt& at) {
    ++seen;
    EXPECT_EQ(at.pod.labels->At("app"), "j");
  });
  EXPECT_EQ(seen, 1U);
}

}  // namespace
}  // namespace weft::cluster
