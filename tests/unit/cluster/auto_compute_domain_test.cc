#include "operator/cluster/auto_compute_domain.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "operator/cluster/build_cluster.h"
#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

constexpr const char* kProduct = "nvidia.com/gpu.product";

// Two nodes of GB300 with these domains of the NVLink network, then two of H100 with none.
testing::Scene RackAndServers(const char* first, const char* second) {
  testing::FabricShape shape = testing::FourNodes();
  shape.scale_up = true;
  shape.scale_up_requires = fabric::ScaleUpRequires::kComputeDomain;
  shape.nodes[0].scale_up = first;
  shape.nodes[1].scale_up = second;
  for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
    shape.nodes[n].labels[kProduct] = n < 2 ? "NVIDIA-GB300" : "NVIDIA-H100-80GB-HBM3";
  }
  return testing::Scene(shape);
}

api::TrainingJob& AutoJob(testing::Scene& scene, std::vector<std::string> models = {}) {
  api::TrainingJob& job = scene.Job("train", 4, 4);
  job.topology.compute_domain = true;
  job.pod.claims_compute_domain = true;  // as it is read
  job.accelerator.models = std::move(models);
  return job;
}

bool Claims(const testing::Scene& scene) {
  return scene.Build().inputs->jobs[0].pod.claims_compute_domain;
}

TEST(AutoComputeDomain, IsNotClaimedWithoutAScaleUpNetwork) {
  testing::Scene scene(testing::FourNodes());
  AutoJob(scene);
  EXPECT_FALSE(Claims(scene));
}

TEST(AutoComputeDomain, IsClaimedWhereNodesOfTheProductShareADomain) {
  testing::Scene scene = RackAndServers("v0", "v0");
  AutoJob(scene, {"GB300"});
  EXPECT_TRUE(Claims(scene));
}

TEST(AutoComputeDomain, IsNotClaimedForAProductOutsideTheRacks) {
  testing::Scene scene = RackAndServers("v0", "v0");
  AutoJob(scene, {"H100"});
  EXPECT_FALSE(Claims(scene));
}

TEST(AutoComputeDomain, IsClaimedIfOneOfTheProductsMayNeedIt) {
  testing::Scene scene = RackAndServers("v0", "v0");
  AutoJob(scene);
  EXPECT_TRUE(Claims(scene));
}

TEST(AutoComputeDomain, IsNotClaimedWhereEachNodeIsAlone) {
  testing::Scene scene = RackAndServers("v0", "v1");
  AutoJob(scene);
  EXPECT_FALSE(Claims(scene));
}

TEST(AutoComputeDomain, IsClaimedAgainOnAnotherFabric) {
  testing::Scene scene = RackAndServers("v0", "v0");
  AutoJob(scene, {"GB300"}).pod.claims_compute_domain = false;
  EXPECT_TRUE(Claims(scene));
}

TEST(AutoComputeDomain, AChannelOfTheTemplateStaysClaimed) {
  testing::Scene scene(testing::FourNodes());
  api::ClaimReference channel{"", "cd-channel"};
  channel.channel = true;
  AutoJob(scene).claims = {channel};
  EXPECT_TRUE(Claims(scene));
}

TEST(AutoComputeDomain, AJobWithoutItIsLeftAlone) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("train", 4, 4).pod.claims_compute_domain = true;
  EXPECT_TRUE(Claims(scene));
}

}  // namespace
}  // namespace weft::cluster
