#include "operator/cluster/devices.h"

#include <gtest/gtest.h>

#include <functional>

#include "operator/fabric/pools.h"
#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

constexpr const char* kDriver = "gpu.nvidia.com";

// Claims on the scene of cluster_test.cc: n0 to n3, of 8 GPUs each.
struct DeviceScene : testing::Scene {
  DeviceScene() : testing::Scene(testing::FourNodes()) {}

  // The GPUs gpu-0 to gpu-7 of a node, in a pool of its name.
  api::ResourceSlice& Slice(const std::string& node) {
    api::ResourceSlice slice;
    slice.meta.key.name = node + "-" + std::to_string(inputs.resource_slices.size());
    slice.driver = kDriver;
    slice.pool = slice.node_name = node;
    slice.usable = {{"gpu", 8}};
    inputs.resource_slices.push_back(std::move(slice));
    return inputs.resource_slices.Edit(inputs.resource_slices.size() - 1);
  }

  api::DeviceClass& Class(const std::string& extended = testing::kGpu) {
    api::DeviceClass one;
    one.meta.key.name = kDriver;
    one.driver = kDriver;
    one.type = "gpu";
    one.exact = true;
    one.extended_resource = extended;
    return inputs.device_classes.emplace_back(std::move(one));
  }

  api::ResourceClaim& Claim(const std::string& name, const std::string& node, int gpus,
                            const std::string& pod = "") {
    api::ResourceClaim claim;
    claim.meta.key = {"ns", name};
    for (int g = 0; g < gpus; ++g) {
      claim.devices.push_back({kDriver, node, "gpu-" + std::to_string(g)});
    }
    claim.requests = {{kDriver, gpus, false}};
    if (!pod.empty()) claim.users = {{pod, ""}};
    inputs.resource_claims.push_back(std::move(claim));
    return inputs.resource_claims.Edit(inputs.resource_claims.size() - 1);
  }

  void Template(const std::string& name, std::vector<api::DeviceRequest> requests) {
    api::ClaimTemplate one;
    one.meta.key = {"ns", name};
    one.requests = std::move(requests);
    inputs.claim_templates.push_back(std::move(one));
  }

  // A pod that requests no extended resource.
  api::Pod& ClaimingPod(const std::string& name, const std::string& node,
                        const std::string& claim_template) {
    api::Pod& pod = Pod(name, node);
    pod.pod.requests.clear();
    pod.claims = {{"", claim_template}};
    return pod;
  }

  void WithoutPlugIn(std::size_t node) {
    inputs.nodes.Edit(node).facts.allocatable.erase(testing::kGpu);
  }
};

struct DevicesCase {
  const char* name;
  std::function<void(DeviceScene&)> arrange;
  std::vector<std::int64_t> free;  // GPUs of the fabric's nodes
};

class DevicesTest : public ::testing::TestWithParam<DevicesCase> {};

TEST_P(DevicesTest, CountsEachGpuOnce) {
  DeviceScene scene;
  GetParam().arrange(scene);
  EXPECT_EQ(testing::FreeGpus(scene.Build()), GetParam().free);
}

TEST_P(DevicesTest, CountsEachGpuOnceInAnyInputOrder) {
  DeviceScene scene;
  GetParam().arrange(scene);
  scene.inputs.resource_claims = testing::Reversed(scene.inputs.resource_claims);
  scene.inputs.resource_slices = testing::Reversed(scene.inputs.resource_slices);
  scene.inputs.pods = testing::Reversed(scene.inputs.pods);
  EXPECT_EQ(testing::FreeGpus(scene.Build()), GetParam().free);
}

TEST_P(DevicesTest, OnceIsEnough) {
  DeviceScene scene;
  GetParam().arrange(scene);
  CountClaims(scene.inputs);
  scene.inputs.nodes = NodesWithDevices(scene.inputs);
  EXPECT_EQ(testing::FreeGpus(scene.Build()), GetParam().free);
}

const DevicesCase kDevicesCases[] = {
    {"AClaimHoldsItsGpusWithoutAPod", [](DeviceScene& s) { s.Claim("c", "n1", 8); }, {8, 0, 8, 8}},
    {"AClaimCountsWithItsPod",
     [](DeviceScene& s) {
       s.ClaimingPod("p", "n1", "gpus");
       s.Claim("c", "n1", 4, "p");
     },
     {8, 4, 8, 8}},
    {"TheNodeIsThatOfTheSliceWhateverThePoolsName",
     [](DeviceScene& s) {
       s.Slice("n2").pool = "pool-of-n2";
       s.Claim("c", "pool-of-n2", 3);
     },
     {8, 8, 5, 8}},
    {"WithoutASliceTheNodeIsThatOfTheAllocation",
     [](DeviceScene& s) { s.Claim("c", "pool-of-n2", 3).node_name = "n2"; },
     {8, 8, 5, 8}},
    {"AClaimWithoutDevicesHoldsNothing",
     [](DeviceScene& s) { s.Claim("c", "n1", 0); },
     {8, 8, 8, 8}},
    {"AGpuThatTwoClaimsShareCountsOnce",
     [](DeviceScene& s) {
       s.ClaimingPod("p", "n1", "");
       s.ClaimingPod("q", "n1", "");
       s.Claim("c", "n1", 1, "p");
       s.Claim("d", "n1", 1, "q");
     },
     {8, 7, 8, 8}},
    {"PodsThatShareAClaimUseItOnce",
     [](DeviceScene& s) {
       s.Class("");
       s.ClaimingPod("p", "n1", "").claims = {{"c", ""}};
       s.ClaimingPod("q", "n1", "").claims = {{"c", ""}};
       s.Claim("c", "n1", 2, "p").users = {{"p", ""}, {"q", ""}};
     },
     {8, 6, 8, 8}},
    {"PartitionsUseTheirWholeGpu",
     [](DeviceScene& s) {
       s.Slice("n0").parts = {{"gpu-0", "set-0"}, {"gpu-1", "set-0"}, {"gpu-2", "set-1"}};
       s.Claim("c", "n0", 2);  // two partitions of one GPU
       s.Claim("d", "n0", 3);  // those and one of the next
     },
     {6, 8, 8, 8}},
    {"OtherDevicesAreNoAccelerators",
     [](DeviceScene& s) {
       for (auto& device : s.Claim("c", "n1", 4).devices) device.driver = "dra.net";
     },
     {8, 8, 8, 8}},
    {"ADriverOfAClassWithAnExtendedResourceIsKnown",
     [](DeviceScene& s) {
       s.Class().driver = "gpu.example.com";
       for (auto& device : s.Claim("c", "n1", 4).devices) device.driver = "gpu.example.com";
     },
     {8, 4, 8, 8}},
    {"AClaimForAnExtendedResourceIsItsPodsRequest",
     [](DeviceScene& s) {
       s.Pod("p", "n1").pod.requests = {{testing::kGpu, 4}};
       s.Claim("c", "n1", 4, "p").for_extended_resource = true;
     },
     {8, 4, 8, 8}},
    {"APodAndItsClaimForAnExtendedResourceOnAnotherNodeBothCount",
     [](DeviceScene& s) {
       s.Pod("p", "n1").pod.requests = {{testing::kGpu, 4}};
       s.Claim("c", "n2", 4, "p").for_extended_resource = true;
     },
     {8, 4, 4, 8}},
    {"AClaimOfAPodThatIsNotYetBoundCounts",
     [](DeviceScene& s) {
       s.ClaimingPod("p", "", "gpus");
       s.Claim("c", "n1", 8, "p");
     },
     {8, 0, 8, 8}},
    {"AClaimOfAWorkerThatIsNotYetBoundIsItsPlacements",
     [](DeviceScene& s) {
       s.Job("j", 1);
       s.Placement("j-1", 1, {"n1"}).meta.labels = {{"weft.dev/job-name", "j"}};
       s.Pod("j-1-0", "", {{"weft.dev/job-name", "j"}, {"weft.dev/worker-index", "0"}});
       s.Claim("c", "n1", 8, "j-1-0").for_extended_resource = true;
     },
     {8, 0, 8, 8}},
    {"AClaimOfAnotherPodOfTheSameNameIsNotThatPods",
     [](DeviceScene& s) {
       s.Pod("p", "n1").meta.uid = "new";
       s.Claim("c", "n1", 8, "p").users = {{"p", "old"}};
     },
     {8, -8, 8, 8}},
    {"APodWhoseClaimIsNotSeenYetUsesWhatItsTemplateRequests",
     [](DeviceScene& s) {
       s.Class("");
       s.Template("gpus", {{kDriver, 6, false}});
       s.ClaimingPod("p", "n3", "gpus");
     },
     {8, 8, 8, 2}},
    {"ARequestForAllDevicesIsTheMostThatANodeHas",
     [](DeviceScene& s) {
       s.Class("");
       s.Slice("n0").usable = {{"gpu", 7}};
       s.Template("gpus", {{kDriver, 1, true}});
       s.ClaimingPod("p", "n3", "gpus");
     },
     {8, 8, 8, 1}},
    {"AFinishedPodWithoutAClaimUsesNothing",
     [](DeviceScene& s) {
       s.Class("");
       s.Template("gpus", {{kDriver, 6, false}});
       s.ClaimingPod("p", "n3", "gpus").phase = api::PodPhase::kSucceeded;
     },
     {8, 8, 8, 8}},
    {"GpusThatOnlySlicesTellOfCount",
     [](DeviceScene& s) {
       s.WithoutPlugIn(2);
       s.Class();
       s.Slice("n2").usable = {{"gpu", 4}, {"mig", 2}};
       s.Slice("n2").usable = {{"gpu", 2}};
       s.Claim("c", "n2", 1);
     },
     {8, 8, 5, 8}},
    {"OnlyTheNewestGenerationOfAPoolCounts",
     [](DeviceScene& s) {
       s.WithoutPlugIn(2);
       s.Class();
       s.Slice("n2").generation = 1;
       s.Slice("n2").generation = 2;
     },
     {8, 8, 8, 8}},
    {"SlicesOfANodeWithAPlugInNameTheSameGpus",
     [](DeviceScene& s) {
       s.Class();
       s.Slice("n2");
     },
     {8, 8, 8, 8}},
    {"APoolThatLacksASliceCountsNothing",
     [](DeviceScene& s) {
       s.WithoutPlugIn(2);
       s.Class();
       s.Slice("n2").slices_in_pool = 2;
       s.Slice("n3");
     },
     {8, 8, 0, 8}},
    {"WithoutAnExtendedResourceNameTheyAreClaimed",
     [](DeviceScene& s) {
       s.WithoutPlugIn(2);
       s.Class("");
       s.Slice("n2");
       s.Claim("c", "n2", 3);
     },
     {8, 8, 5, 8}},
    {"ThoseOfAnUnknownDriverDoNotCount",
     [](DeviceScene& s) {
       s.WithoutPlugIn(2);
       s.Class("").driver = "npu.example.com";
       s.Slice("n2").driver = "npu.example.com";
     },
     {8, 8, 0, 8}},
};
INSTANTIATE_TEST_SUITE_P(, DevicesTest, ::testing::ValuesIn(kDevicesCases),
                         [](const auto& one) { return one.param.name; });

// n2 and n3 have no plug-in; slices list 8 devices of each, 2 of n3 are tainted.
DeviceScene OnlySlices(const std::string& extended, bool exact) {
  DeviceScene scene;
  api::DeviceClass& one = scene.Class(extended);
  one.exact = exact;
  for (const std::size_t n : {2, 3}) scene.WithoutPlugIn(n);
  scene.Slice("n2").product = "NVIDIA H100 80GB HBM3";
  api::ResourceSlice& slice = scene.Slice("n3");
  slice.usable = {{"gpu", 6}};
  slice.tainted = {{"gpu", 2}};
  return scene;
}

TEST(NodesWithDevices, SaysHowAPodMayAskForThem) {
  using Access = std::vector<fabric::DeviceAccess>;
  struct Case {
    const char* extended;
    bool exact;
    Access of_slices;
  };
  for (const Case& c : {Case{"", true, {{testing::kGpu, true}}},
                        {"", false, {{testing::kGpu, true}}},
                        {testing::kGpu, true, {}},
                        {testing::kGpu, false, {{testing::kGpu, true}}}}) {
    const auto nodes = NodesWithDevices(OnlySlices(c.extended, c.exact).inputs);
    EXPECT_EQ(nodes[1].facts.device_access, (Access{{testing::kGpu, false}}));
    EXPECT_EQ(nodes[2].facts.device_access, c.of_slices) << c.extended << c.exact;
    EXPECT_EQ(nodes[2].facts.labels.At(fabric::kProductOfDevices), "NVIDIA-H100-80GB-HBM3");
    EXPECT_EQ(nodes[3].facts.allocatable.at(testing::kGpu), 6);
    EXPECT_EQ(nodes[3].facts.capacity.at(testing::kGpu), 8);
  }
}

TEST(NodesWithDevices, SaysOfWhatSizeThePartsOfAmdsGpusAre) {
  DeviceScene scene;
  api::DeviceClass& amd = scene.Class("amd.com/gpu");
  amd.meta.key.name = amd.driver = "gpu.amd.com";
  amd.type = "";
  for (const auto& [node, profile] : {std::pair{"n2", "cpx_nps4"}, {"n3", "spx_nps1"}}) {
    api::ResourceSlice& slice = scene.Slice(node);
    slice.driver = "gpu.amd.com";
    slice.usable = {{"amdgpu", 8}};
    slice.product = "AMD_Instinct_MI300X_OAM";
    slice.profile = profile;
  }
  const auto nodes = NodesWithDevices(scene.inputs);
  const auto part = [&](std::size_t n) {
    return std::string(fabric::PoolOf(nodes[n].facts, {}).PartOf("amd.com/gpu"));
  };
  EXPECT_EQ(part(2), "CPX 1/8");
  EXPECT_EQ(part(3), "");
}

TEST(NodesWithDevices, WhatADriverHasNotWrittenYetIsLostForAMoment) {
  DeviceScene scene;
  scene.Class("");
  scene.WithoutPlugIn(2);
  scene.Slice("n2").generation = 1;
  api::ResourceSlice& newest = scene.Slice("n2");
  newest.generation = newest.slices_in_pool = 2;
  newest.usable = {{"gpu", 3}};
  const auto nodes = NodesWithDevices(scene.inputs);
  EXPECT_FALSE(nodes[2].facts.allocatable.contains(testing::kGpu));
  EXPECT_EQ(nodes[2].facts.capacity.at(testing::kGpu), 8);
}

TEST(NodesWithDevices, AHalfWrittenPoolHasMoreThanItSays) {
  DeviceScene scene;
  scene.Class("");
  scene.WithoutPlugIn(2);
  api::ResourceSlice& first = scene.Slice("n2");
  first.slices_in_pool = 3;
  first.usable = {{"gpu", 3}};
  const auto nodes = NodesWithDevices(scene.inputs);
  EXPECT_FALSE(nodes[2].facts.allocatable.contains(testing::kGpu));
  EXPECT_EQ(nodes[2].facts.capacity.at(testing::kGpu), 9);
}

// What is missing of a pool over several nodes may be of any of them.
TEST(NodesWithDevices, AHalfWrittenPoolOverSeveralNodesStaysAsItIs) {
  for (const bool written_before : {false, true}) {
    DeviceScene scene;
    scene.Class("");
    for (const std::size_t n : {2, 3}) scene.WithoutPlugIn(n);
    for (const char* node : {"n2", "n3"}) {
      api::ResourceSlice& slice = scene.Slice(node);
      slice.pool = "rack";
      slice.slices_in_pool = 4;
      slice.usable = {{"gpu", 4}};
    }
    if (written_before) {
      api::ResourceSlice& newest = scene.Slice("n2");
      newest.pool = "rack";
      newest.generation = 1;
      newest.slices_in_pool = 4;
      newest.usable = {{"gpu", 8}};
    }
    const auto nodes = NodesWithDevices(scene.inputs);
    for (const std::size_t n : {2, 3}) {
      if (written_before && n == 3) continue;
      EXPECT_FALSE(nodes[n].facts.allocatable.contains(testing::kGpu));
      EXPECT_EQ(nodes[n].facts.capacity.at(testing::kGpu), written_before ? 8 : 4);
    }
  }
}

// The label alone counts n2's GPUs by the name that most nodes have.
TEST(NodesWithDevices, WhatALabelCountsAndSlicesListIsCountedOnce) {
  DeviceScene scene;
  scene.Class("example.com/gpu");
  scene.WithoutPlugIn(2);
  scene.inputs.nodes.Edit(2).facts.capacity = {{testing::kGpu, 8}};
  scene.Slice("n2");
  const auto nodes = NodesWithDevices(scene.inputs);
  EXPECT_EQ(nodes[2].facts.allocatable.at("example.com/gpu"), 8);
  EXPECT_TRUE(nodes[2].facts.capacity.empty());
}

// A job cannot make network cards accelerators, nor take nodes from jobs that ask for a resource.
TEST(NodesWithDevices, OtherDriversDevicesDoNotTouchTheGpus) {
  for (const char* name : {"dranet", "own"}) {
    DeviceScene scene;
    api::DeviceClass& one = scene.Class("");
    one.meta.key.name = name;
    one.driver = "cards.example.com";
    scene.Slice("n2").driver = "cards.example.com";
    api::TrainingJob job;
    job.meta.key = {"ns", "job"};
    job.accelerator = {.resource_name = std::string(api::kClassResourcePrefix) + name,
                       .per_worker = 1,
                       .device_class = name};
    scene.inputs.jobs.push_back(job);
    const auto nodes = NodesWithDevices(scene.inputs);
    for (const api::Node& node : nodes) {
      for (const auto& only : node.facts.device_access) EXPECT_NE(only.resource, testing::kGpu);
    }
    EXPECT_EQ(nodes[2].facts.allocatable.contains(job.accelerator.resource_name),
              std::string(name) == "own");
  }
}

TEST(NodesWithDevices, ProductsOfOneDriverHaveTheResourcesOfTheirClasses) {
  DeviceScene scene;
  for (const char* product : {"A100", "H100"}) {
    api::DeviceClass& one = scene.Class("example.com/gpu-" + std::string(product));
    one.meta.key.name = product;
    one.product = product;
  }
  scene.Slice("n2").product = "A100";
  scene.Slice("n3").product = "H100";
  const auto nodes = NodesWithDevices(scene.inputs);
  EXPECT_EQ(nodes[2].facts.allocatable.at("example.com/gpu-A100"), 8);
  EXPECT_EQ(nodes[3].facts.allocatable.at("example.com/gpu-H100"), 8);
  const DeviceResources resources(scene.inputs);
  EXPECT_EQ(resources.OfClass("A100"), "example.com/gpu-A100");
  EXPECT_EQ(resources.OfClass("H100"), "example.com/gpu-H100");
}

TEST(ResolveDeviceClasses, GivesAJobTheResourceOfItsDevices) {
  struct Case {
    const char* name;
    const char* driver;
    const char* extended;
    std::string resource;
  };
  for (const Case& c : {Case{"known", kDriver, "", testing::kGpu},
                        {"extended", "npu.example.com", "example.com/npu", "example.com/npu"},
                        {"own", "x.example.com", "", "deviceclass.resource.kubernetes.io/own"},
                        {"missing", "", "", "deviceclass.resource.kubernetes.io/missing"}}) {
    DeviceScene scene;
    api::DeviceClass& one = scene.Class(c.extended);
    one.driver = c.driver;
    one.meta.key.name = *c.driver == 0 ? "another" : c.name;
    api::TrainingJob job;
    job.meta.key = {"ns", "job"};
    job.accelerator = {.resource_name = "deviceclass.resource.kubernetes.io/" + std::string(c.name),
                       .per_worker = 4,
                       .device_class = c.name};
    scene.inputs.jobs.push_back(job);
    for (int twice = 0; twice < 2; ++twice) {
      ResolveDeviceClasses(scene.inputs);
      EXPECT_EQ(scene.inputs.jobs[0].accelerator.resource_name, c.resource);
      EXPECT_EQ(scene.inputs.jobs[0].pod.requests, (fabric::Resources{{c.resource, 4}}));
    }
  }
}

TEST(CountClaims, NamesTheClaimThatHoldsANodeWithoutAPod) {
  DeviceScene scene;
  scene.Claim("c", "n1", 8);
  const Cluster cluster = scene.Build();
  ASSERT_EQ(cluster.fabrics.front().holders.size(), 1U);
  EXPECT_EQ(cluster.fabrics.front().holders.front().kind, "ResourceClaim");
  EXPECT_EQ(cluster.fabrics.front().holders.front().key, (api::ObjectKey{"ns", "c"}));
}

TEST(ClaimDemand, WaitsForTheTemplateThatAPodNames) {
  DeviceScene scene;
  scene.Class("");
  api::Pod& pod = scene.ClaimingPod("p", "", "gpus");
  EXPECT_FALSE(ClaimDemand(scene.inputs).Of(pod));
  scene.Template("gpus", {{kDriver, 4, false}, {"of-nobody", 1, false}});
  EXPECT_EQ(ClaimDemand(scene.inputs).Of(pod), (fabric::Resources{{testing::kGpu, 4}}));
  pod.claims.push_back({"shared", ""});
  EXPECT_FALSE(ClaimDemand(scene.inputs).Of(pod));
  scene.Claim("shared", "n1", 2);
  EXPECT_EQ(ClaimDemand(scene.inputs).Of(pod), (fabric::Resources{{testing::kGpu, 6}}));
}

}  // namespace
}  // namespace weft::cluster
