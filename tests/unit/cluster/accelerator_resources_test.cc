#include "operator/cluster/accelerator_resources.h"

#include <gtest/gtest.h>

#include "operator/plan/plan.h"
#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

constexpr const char* kOwn = "example.com/x1";

// Four nodes that offer eight of a resource that Weft does not know by name.
testing::Scene FourNodesOf(const char* resource) {
  testing::FabricShape shape = testing::FourNodes();
  for (auto& node : shape.nodes) {
    node.accelerators = 0;
    node.allocatable[resource] = 8;
  }
  return testing::Scene(shape);
}

api::TrainingJob& JobOn(testing::Scene& scene, const char* resource) {
  api::TrainingJob& job = scene.Job("j", 2);
  job.accelerator.resource_name = resource;
  job.pod.requests = {{resource, 8}};
  return job;
}

TEST(AcceleratorResources, AreThoseThatJobsPlacementsAndFabricsName) {
  testing::Scene scene = FourNodesOf(kOwn);
  EXPECT_TRUE(NamedAcceleratorResources(scene.inputs).empty());
  JobOn(scene, kOwn);
  scene.Job("known", 1);
  scene.Placement("p", 2).accelerator.resource_name = "example.com/x2";
  scene.inputs.fabrics[0].spec.accelerator_resources = {"example.com/x3", kOwn, "nvidia.com/gpu"};
  scene.inputs.accelerator_resources = {"example.com/x0"};
  EXPECT_EQ(NamedAcceleratorResources(scene.inputs),
            (std::vector<std::string>{"example.com/x0", kOwn, "example.com/x2", "example.com/x3"}));
}

TEST(AcceleratorResources, AJobOnOneIsPlacedOnFreeNodes) {
  for (const bool given : {true, false}) {
    testing::Scene scene = FourNodesOf(kOwn);
    if (!given) scene.inputs.fabrics.clear();  // the nodes have no other accelerator
    scene.Pod("p", "n0").pod.requests = {{kOwn, 8}};
    JobOn(scene, kOwn);
    const Cluster cluster = scene.Build();
    EXPECT_EQ(cluster.fabrics[0].fabric->node_count(), 4U);
    EXPECT_EQ(cluster.fabrics[0].fabric->accelerators(fabric::NodeIndex{0}), 8);
    const auto report = plan::Plan(cluster);
    ASSERT_TRUE(report) << report.error().message;
    const plan::Placed* placed = report->entries[0].placed();
    ASSERT_NE(placed, nullptr);
    for (const auto node : placed->plan.nodes) {
      EXPECT_NE(cluster.fabrics[0].fabric->node(node).name, "n0");
    }
    EXPECT_EQ(AcceleratorsOf(cluster, cluster.inputs->pods[0]), 8);
  }
}

TEST(AcceleratorResources, AFabricNamesThoseOfOtherControllersPods) {
  testing::Scene scene = FourNodesOf(kOwn);
  scene.Pod("p", "n0").pod.requests = {{kOwn, 8}};
  EXPECT_EQ(AcceleratorsOf(scene.Build(), scene.inputs.pods[0]), 0);
  scene.inputs.fabrics[0].spec.accelerator_resources = {kOwn};
  const Cluster cluster = scene.Build();
  EXPECT_EQ(AcceleratorsOf(cluster, scene.inputs.pods[0]), 8);
  EXPECT_TRUE(IsAccelerator(cluster, kOwn));
  EXPECT_FALSE(IsAccelerator(cluster, "example.com/nic"));
}

}  // namespace
}  // namespace weft::cluster
