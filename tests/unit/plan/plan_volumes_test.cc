#include <gtest/gtest.h>

#include "operator/plan/plan.h"
#include "operator/plan/plan_report.h"
#include "tests/support/scene.h"

namespace weft::plan {
namespace {

// A job whose workers name the claim data, bound to a volume of leaf l1.
void JobWithAVolume(testing::Scene& scene, std::uint32_t replicas) {
  scene.Job("a", replicas).pod.terms = fabric::PodTerms{.volumes = {{.claim = "data"}}};
  api::VolumeClaim claim;
  claim.meta.key = {"ns", "data"};
  claim.volume = "pv";
  claim.served = claim.bound = true;
  scene.inputs.volume_claims.push_back(claim);
  api::PersistentVolume volume;
  volume.meta.key.name = "pv";
  volume.affinity = std::vector<rules::NodeSelectorTerm>{{{{"test/leaf", "In", {"l1"}}}, {}}};
  scene.inputs.volumes.push_back(volume);
}

TEST(Plan, KeepsAJobWhereItsVolumeIs) {
  testing::Scene scene(testing::FourNodes());
  JobWithAVolume(scene, 2);
  const cluster::Cluster cluster = scene.Build();
  const auto report = Plan(cluster);
  ASSERT_TRUE(report);
  const Placed* placed = report->entries[0].placed();
  ASSERT_NE(placed, nullptr);
  std::vector<std::string> nodes;
  for (const auto node : placed->plan.nodes) {
    nodes.push_back(cluster.fabrics[0].fabric->node(node).name);
  }
  EXPECT_EQ(nodes, (std::vector<std::string>{"n2", "n3"}));
}

TEST(Refusal, NamesTheClaimAndItsVolume) {
  testing::Scene scene(testing::FourNodes());
  JobWithAVolume(scene, 3);
  const auto report = Plan(scene.Build());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->entries[0].refused()->message,
            "Fabric \"default\" has room for 2 of 3 workers: 8 nvidia.com/gpu are missing. 2 of 4 "
            "nodes are ruled out (its claim data is bound to volume pv on nodes with test/leaf In "
            "(l1)). It never fits this fabric, not even with nothing else running.");
}

TEST(Refusal, OfAClaimThatDoesNotExistWaitsForIt) {
  testing::Scene scene(testing::FourNodes());
  JobWithAVolume(scene, 2);
  scene.inputs.volume_claims = {};
  scene.inputs.knows_claims = true;
  const auto report = Plan(scene.Build());
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->entries[0].refused()->why->ever);
  EXPECT_EQ(report->entries[0].refused()->message,
            "No node of fabric \"default\" may run a worker of this job: 4 of 4 are ruled out (its "
            "claim data does not exist). It waits until that changes.");
}

}  // namespace
}  // namespace weft::plan
