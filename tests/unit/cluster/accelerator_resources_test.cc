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
  EXPECT_EQ(NamedAcceleratorResources(scene.inputs), AcceleratorNames());
  JobOn(scene, kOwn);
  scene.Job("known", 1);
  scene.Placement("p", 2).accelerator.resource_name = "example.com/x2";
  scene.inputs.fabrics[0].spec.accelerator_resources = {"example.com/x3", kOwn, "nvidia.com/gpu"};
  scene.inputs.accelerator_resources = {"example.com/x0", "rdma/hca"};
  scene.inputs.accelerator_settings = {"example.com/x4"};
  const AcceleratorNames names = NamedAcceleratorResources(scene.inputs);
  EXPECT_EQ(names.all, (std::vector<std::string>{"example.com/x0", kOwn, "example.com/x2",
                                                 "example.com/x3", "example.com/x4"}));
  EXPECT_EQ(names.settled, (std::vector<std::string>{kOwn, "example.com/x3", "example.com/x4"}));
}

// A job of anybody must not take nodes from the fabrics of others.
TEST(AcceleratorResources, WhatOnlyAJobNamesMovesNoNodeBetweenFabrics) {
  testing::Scene scene = FourNodesOf("nvidia.com/gpu");
  for (const std::size_t n : {2, 3}) {
    scene.inputs.nodes.Edit(n).facts.allocatable = {{kOwn, 8}};
    scene.inputs.nodes.Edit(n).facts.labels.Set("pool", "own");
  }
  scene.inputs.fabrics.push_back(scene.inputs.fabrics[0]);
  scene.inputs.fabrics[1].spec.name = scene.inputs.fabrics[1].meta.key.name = "own";
  scene.inputs.fabrics[0].spec.node_selector.reset();
  scene.inputs.fabrics[1].spec.node_selector = fabric::LabelSelector{{{"pool", "own"}}, {}};
  JobOn(scene, kOwn);
  const Cluster cluster = scene.Build();
  EXPECT_TRUE(cluster.overlapping.empty());
  EXPECT_EQ(cluster.fabrics[0].fabric->node_count(), 2U);
  EXPECT_EQ(cluster.fabrics[1].fabric->node_count(), 2U);
}

TEST(AcceleratorResources, WhatOnlyAJobNamesDoesNotDecideWhichLabelsAreRecognised) {
  testing::Scene scene = FourNodesOf("nvidia.com/gpu");
  scene.inputs.fabrics.clear();
  for (std::size_t n = 0; n < 4; ++n) {
    fabric::NodeFacts& facts = scene.inputs.nodes.Edit(n).facts;
    facts.labels = {{"topology.kubernetes.io/zone", "z"}};
    if (n == 0) facts.labels.Set("network.topology.nvidia.com/leaf", "l");
    if (n > 0) facts.allocatable = {{kOwn, 8}};
  }
  const std::string before = scene.Build().fabrics[0].fabric->spec().preset;
  JobOn(scene, kOwn);
  EXPECT_EQ(scene.Build().fabrics[0].fabric->spec().preset, before);
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
