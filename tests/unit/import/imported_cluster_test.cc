#include "operator/import/imported_cluster.h"

#include <set>

#include "gtest/gtest.h"
#include "operator/import/write_manifests.h"
#include "operator/manifest/inputs.h"

namespace weft::import {
namespace {

TEST(LabelNames, KeepsWhatFitsAndShortensTheRestOneToOne) {
  LabelNames names;
  EXPECT_EQ(names.Shorten("A09-P1_leaf.01"), "A09-P1_leaf.01");
  const std::string long_a(64, 'a'), long_b = std::string(63, 'a') + "b";
  const std::string short_a = names.Shorten(long_a), short_b = names.Shorten(long_b);
  EXPECT_EQ(short_a, std::string(32, 'a') + "-db007849f35ebbe5");
  EXPECT_NE(short_a, short_b);
  EXPECT_EQ(names.Shorten(long_a), short_a);
  // A name that looks like another's short form does not take its place.
  EXPECT_NE(names.Shorten(short_a), short_a);
  EXPECT_NE(names.Shorten("sw 1"), names.Shorten("sw:1"));
  EXPECT_EQ(names.Shorten("--").substr(0, 2), "x-");
}

TEST(NodeNames, AreLowerCaseDnsNames) {
  NodeNames names;
  EXPECT_EQ(names.Shorten("Gpu-01.Example"), "gpu-01.example");
  EXPECT_EQ(names.Shorten("GPU-01.example"), "gpu-01.example");
  EXPECT_EQ(names.changed(), 0U);
  EXPECT_EQ(names.Shorten("gpu_01").substr(0, 7), "gpu-01-");
  EXPECT_EQ(names.Shorten("a..b").substr(0, 5), "a--b-");
  EXPECT_EQ(names.changed(), 2U);
}

ImportedCluster Sample() {
  ImportedCluster cluster;
  cluster.fabric.levels = {{"spine", "weft.dev/spine", fabric::Identity::kValue,
                            fabric::LinkSpec{"InfiniBandNDR", 25'000'000'000, 200, 6000}},
                           {"leaf", "weft.dev/leaf", fabric::Identity::kPath, {}}};
  cluster.fabric.outside = fabric::LinkSpec{"InfiniBandNDR", {}, 400, {}};
  cluster.fabric.scale_up = fabric::ScaleUpSpec{"nvlink", "nvidia.com/gpu.clique",
                                                fabric::LinkSpec{"NVLink5", {}, 100, {}},
                                                fabric::ScaleUpRequires::kComputeDomain};
  cluster.fabric.node_link = fabric::LinkSpec{"NVLink5", {}, 100, {}};
  cluster.fabric.rails = fabric::RailsSpec{2, {"weft.dev/rail-0", "weft.dev/rail-1"}};
  cluster.fabric.node_selector = fabric::LabelSelector{{{"a.b/c", "true"}}, {}};
  cluster.fabric.unusable.taints = {{"bad", "", "NoSchedule"}};
  cluster.fabric.accelerator_model = "H100";
  cluster.fabric.environment = {{"NCCL_IB_HCA", "=mlx5_1"}, {"NCCL_DEBUG", ""}};
  for (const std::string name : {"1101", "true", "n-1"}) {
    cluster.nodes.push_back(MakeNode(name, "nvidia.com/gpu", 8));
    cluster.nodes.back().labels.Set("weft.dev/leaf", "1e3");
  }
  cluster.nodes[2].unschedulable = true;
  cluster.nodes[2].taints = {{"k", "v", "NoSchedule"}};
  cluster.nodes[2].allocatable["cpu"] = 1500;
  cluster.pods = {{"earlier-2", "1101", ShareOfNode("nvidia.com/gpu", 3)}};
  return cluster;
}

TEST(WriteManifests, ReadBackAsTheyWere) {
  const ImportedCluster cluster = Sample();
  const auto inputs = manifest::ReadInputs({{"text", WriteManifests(cluster)}});
  ASSERT_TRUE(inputs) << inputs.error().message;
  ASSERT_EQ(inputs->fabrics.size(), 1U);
  EXPECT_EQ(inputs->fabrics[0].spec, cluster.fabric);
  ASSERT_EQ(inputs->nodes.size(), 3U);
  EXPECT_EQ(inputs->nodes[0].facts.name, "1101");
  EXPECT_EQ(inputs->nodes[1].facts.name, "n-1");
  EXPECT_EQ(inputs->nodes[1].facts.labels, cluster.nodes[2].labels);
  EXPECT_EQ(inputs->nodes[1].facts.taints, cluster.nodes[2].taints);
  EXPECT_EQ(inputs->nodes[1].facts.conditions, cluster.nodes[2].conditions);
  EXPECT_EQ(inputs->nodes[1].facts.allocatable, cluster.nodes[2].allocatable);
  EXPECT_TRUE(inputs->nodes[1].facts.unschedulable);
  EXPECT_EQ(inputs->nodes[2].facts.name, "true");
  ASSERT_EQ(inputs->pods.size(), 1U);
  EXPECT_EQ(inputs->pods[0].node_name, "1101");
  EXPECT_EQ(inputs->pods[0].phase, api::PodPhase::kRunning);
  EXPECT_TRUE(inputs->pods[0].Holds());
}

TEST(WriteManifests, EscapesWhatAScalarMustNotHold) {
  ImportedCluster cluster;
  cluster.nodes.push_back(MakeNode("n", "x\": {", 1));
  cluster.nodes[0].labels.Set("k\n- ", "\"\\\t");
  const std::string text = WriteManifests(cluster);
  EXPECT_NE(text.find("    \"k\\n- \": \"\\\"\\\\\\t\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    \"x\\\": {\": \"1\"\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace weft::import
