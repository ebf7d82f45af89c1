#include "operator/api/node_devices.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "operator/api/decode.h"
#include "operator/fabric/partition.h"

namespace weft::api {
namespace {

using Json = nlohmann::json;
using fabric::Resources;

// Jobs and Fabrics may name any resource of a device plug-in as an accelerator.
TEST(DecodeNode, KeepsTheDevicesThatAreNotAllocatable) {
  const Result<Node> node = DecodeNode(Json::parse(R"({"metadata":{"name":"a"},"status":{
      "capacity":{"cpu":"96","nvidia.com/gpu":"8","amd.com/gpu":"4","google.com/tpu":"4",
                  "example.com/x1":"16","hugepages-2Mi":"4","x.kubernetes.io/y":"2"},
      "allocatable":{"cpu":"95","nvidia.com/gpu":"7","google.com/tpu":"4"}}})"),
                                       "f");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->facts.capacity,
            (fabric::Resources{{"amd.com/gpu", 4}, {"example.com/x1", 16}, {"nvidia.com/gpu", 8}}));
}

// The kubelet has started again and no plug-in has registered yet; the labels still count.
TEST(DecodeNode, CountsAcceleratorsByLabelWhileTheKubeletKnowsNone) {
  const auto capacity = [](const std::string& labels, const std::string& amounts) {
    const Result<Node> node = DecodeNode(
        Json::parse(R"({"metadata":{"name":"a","labels":)" + labels + R"(},"status":{"capacity":)" +
                    amounts + R"(,"allocatable":)" + amounts + "}}"),
        "f");
    return node->facts.capacity;
  };
  const std::string none = R"({"cpu":"96","nvidia.com/gpu":"0"})";
  const Resources eight = {{"nvidia.com/gpu", 8}};
  EXPECT_EQ(capacity(R"({"nvidia.com/gpu.count":"8"})", none), eight);
  EXPECT_EQ(capacity(R"({"karpenter.k8s.aws/instance-gpu-count":"8"})", none), eight);
  EXPECT_EQ(
      capacity(R"({"cloud.google.com/gke-accelerator-count":"4"})", R"({"google.com/tpu":"0"})"),
      (Resources{{"google.com/tpu", 4}}));
  for (const char* count : {"0", "-1", "8x", ""}) {
    EXPECT_EQ(capacity(R"({"nvidia.com/gpu.count":")" + std::string(count) + R"("})", none),
              Resources{})
        << count;
  }
  EXPECT_EQ(capacity(R"({"nvidia.com/gpu.count":"8"})", R"({"cpu":"96"})"), eight)
      << "no plug-in has ever registered";
  EXPECT_EQ(
      capacity(R"({"nvidia.com/gpu.count":"8","nvidia.com/gpu.deploy.device-plugin":"false"})",
               R"({"cpu":"96"})"),
      Resources{})
      << "none will";
  EXPECT_EQ(capacity(R"({"nvidia.com/gpu.count":"8"})", R"({"volcano.sh/vgpu-number":"80"})"),
            Resources{})
      << "they have another name";
  EXPECT_EQ(capacity(R"({"cloud.google.com/gke-accelerator-count":"4"})", R"({"cpu":"96"})"),
            Resources{})
      << "nothing says which resource it will be";
  EXPECT_EQ(capacity(R"({"nvidia.com/gpu.count":"8"})",
                     R"({"nvidia.com/gpu":"0","nvidia.com/mig-1g.10gb":"56"})"),
            Resources{})
      << "its GPUs are sliced";
}

struct Forgotten {
  const char *name, *labels, *amounts;
  Resources want;
};
constexpr const char* kMig = "nvidia.com/mig-1g.10gb";

// Time slices, GKE's partitions, MIG slices, and the counts of other vendors.
const Forgotten kForgotten[] = {
    {"time slices",
     R"({"nvidia.com/gpu.count":"2","nvidia.com/gpu.replicas":"4"})",
     R"({"nvidia.com/gpu":"0"})",
     {{"nvidia.com/gpu", 8}}},
    {"GKE's shared GPUs",
     R"({"cloud.google.com/gke-accelerator-count":"2",
           "cloud.google.com/gke-max-shared-clients-per-gpu":"3"})",
     R"({"nvidia.com/gpu":"0"})",
     {{"nvidia.com/gpu", 6}}},
    {"GKE's partitions",
     R"({"cloud.google.com/gke-accelerator-count":"8",
           "cloud.google.com/gke-gpu-partition-size":"2g.20gb"})",
     R"({"nvidia.com/gpu":"0"})",
     {{"nvidia.com/gpu", 24}}},
    {"shared partitions of GKE",
     R"({"cloud.google.com/gke-accelerator-count":"2",
           "cloud.google.com/gke-max-shared-clients-per-gpu":"3",
           "cloud.google.com/gke-gpu-partition-size":"1g.10gb"})",
     R"({"nvidia.com/gpu":"0"})",
     {{"nvidia.com/gpu", 42}}},
    {"two kinds of AMD",
     R"({"amd.com/gpu.device-id.74a1":"2","amd.com/gpu.device-id.74a5":"6"})",
     R"({"amd.com/gpu":"0"})",
     {{"amd.com/gpu", 8}}},
    {"MIG slices",
     R"({"nvidia.com/gpu.count":"4","nvidia.com/mig-1g.10gb.count":"28",
           "nvidia.com/mig-1g.10gb.memory":"9728"})",
     R"({"nvidia.com/gpu":"0","nvidia.com/mig-1g.10gb":"0"})",
     {{kMig, 28}, {"nvidia.com/gpu", 4}}},  // some may be whole: gpu.count does not tell
    {"MIG slices that are shared",
     R"({"nvidia.com/gpu.count":"8","nvidia.com/mig-3g.40gb.count":"16",
           "nvidia.com/mig-3g.40gb.replicas":"4"})",
     R"({"nvidia.com/mig-3g.40gb":"0"})",
     {{"nvidia.com/mig-3g.40gb", 64}}},
    {"MIG slices that no label counts",
     R"({"nvidia.com/gpu.count":"8"})",
     R"({"nvidia.com/mig-1g.10gb":"0"})",
     {{kMig, 56}}},
    {"slices of nodes whose GPUs Volcano shares",
     R"({"nvidia.com/gpu.count":"8","nvidia.com/mig-1g.10gb.count":"28"})",
     R"({"volcano.sh/vgpu-number":"80"})",
     {{"volcano.sh/vgpu-number", 80}}},
    {"shared under both names",
     R"({"nvidia.com/gpu.count":"2","nvidia.com/gpu.replicas":"4"})",
     R"({"nvidia.com/gpu":"0","nvidia.com/gpu.shared":"0"})",
     {{"nvidia.com/gpu", 8}, {"nvidia.com/gpu.shared", 8}}},
    {"Neuron by two names",
     R"({"karpenter.k8s.aws/instance-accelerator-count":"16"})",
     R"({"aws.amazon.com/neuron":"0","aws.amazon.com/neuroncore":"0"})",
     {{"aws.amazon.com/neuron", 16}, {"aws.amazon.com/neuroncore", 128}}},
    {"slices that the labels have not forgotten",
     R"({"nvidia.com/gpu.count":"4","nvidia.com/mig-1g.10gb.count":"28"})",
     R"({"nvidia.com/gpu":"4"})",
     {{"nvidia.com/gpu", 4}}},
    {"Neuron",
     R"({"karpenter.k8s.aws/instance-accelerator-count":"16"})",
     R"({"aws.amazon.com/neuron":"0"})",
     {{"aws.amazon.com/neuron", 16}}},
    {"AMD",
     R"({"beta.amd.com/gpu.device-id.74a1":"8"})",
     R"({"amd.com/gpu":"0"})",
     {{"amd.com/gpu", 8}}},
    {"NVIDIA beside a GPU of Intel",
     R"({"karpenter.k8s.aws/instance-gpu-count":"8","gpu.intel.com/device.count":"1"})",
     R"({"nvidia.com/gpu":"0"})",
     {{"nvidia.com/gpu", 8}}},
    {"a new node that its cloud knows",
     R"({"karpenter.k8s.aws/instance-gpu-count":"8"})",
     R"({"cpu":"96"})",
     {{"nvidia.com/gpu", 8}}},
    {"a node whose GPU nobody wants",
     R"({"karpenter.k8s.aws/instance-gpu-count":"1","karpenter.sh/initialized":"true"})",
     R"({"cpu":"4"})",
     {}},
    {"a new node with Gaudi",
     R"({"eks.amazonaws.com/instance-gpu-count":"8",
           "eks.amazonaws.com/instance-gpu-manufacturer":"habana"})",
     R"({"cpu":"96"})",
     {{"habana.ai/gaudi", 8}}},
    {"AMD's partitions",
     R"({"amd.com/gpu.device-id.74a1":"8","amd.com/gpu.compute-memory-partition":"cpx_nps4"})",
     R"({"amd.com/gpu":"0"})",
     {{"amd.com/gpu", 64}}},
    {"MIG slices that are shared under a name of their own",
     R"({"nvidia.com/gpu.count":"2","nvidia.com/mig-1g.10gb.count":"14",
           "nvidia.com/mig-1g.10gb.replicas":"2"})",
     R"({"nvidia.com/mig-1g.10gb.shared":"0"})",
     {{"nvidia.com/mig-1g.10gb.shared", 28}}},
    {"Intel",
     R"({"gpu.intel.com/device.count":"8"})",
     R"({"gpu.intel.com/i915":"0"})",
     {{"gpu.intel.com/i915", 8}}},
};

TEST(DecodeNode, CountsTheUnitsOfWhatTheKubeletHasForgotten) {
  for (const Forgotten& one : kForgotten) {
    const std::string amounts = one.amounts;
    const Result<Node> node = DecodeNode(
        Json::parse(R"({"metadata":{"name":"a","labels":)" + std::string(one.labels) +
                    R"(},"status":{"capacity":)" + amounts + R"(,"allocatable":{"cpu":"9"}}})"),
        "f");
    EXPECT_EQ(node->facts.capacity, one.want) << one.name;
  }
}

TEST(DecodeNode, CountsByLabelOnlyWhatIsNotAllocatable) {
  const Result<Node> node =
      DecodeNode(Json::parse(R"({"metadata":{"name":"a","labels":{"nvidia.com/gpu.count":"8"}},
                      "status":{"allocatable":{"cpu":7,"nvidia.com/gpu":8}}})"),
                 "f");
  EXPECT_EQ(node->facts.capacity, Resources{});
}

TEST(DecodeNode, CountsTheGpusThatHamiShares) {
  std::string by = "hami.io/node-nvidia-register";
  const auto gpus = [&by](const std::string& registered) {
    const Json object = {{"metadata", {{"name", "a"}, {"annotations", {{by, registered}}}}}};
    const Result<Node> node = DecodeNode(object, "f");
    return std::string(node->facts.labels.At(fabric::kRegisteredGpus).value_or("none"));
  };
  const auto gpu = [](const char* id, const char* units) {
    return R"({"id":")" + std::string(id) + R"(","count":)" + units +
           R"(,"devmem":32768,"devcore":100,"type":"NVIDIA-Tesla V100-PCIE-32GB","health":true})";
  };
  EXPECT_EQ(gpus("[" + gpu("a", "10") + "," + gpu("b", "10") + "]"), "2");
  EXPECT_EQ(gpus("[" + gpu("a", "1") + "," + gpu("b", "1") + "]"), "none") << "each for one pod";
  EXPECT_EQ(gpus("GPU-a,10,32768,100,NVIDIA-Tesla V100-PCIE-32GB,0,true:"
                 "GPU-b,10,32768,100,NVIDIA-Tesla V100-PCIE-32GB,0,true:"),
            "2");
  for (const char* other : {"", "[]", "[{", "[1,{}]", "{}", ":", "a,b:c", ",:,"}) {
    EXPECT_EQ(gpus(other), "none") << other;
  }
  by = "volcano.sh/node-vgpu-register";
  EXPECT_EQ(gpus("GPU-a,10,81559,100,NVIDIA-NVIDIA H100 80GB HBM3,true:"), "1");
}

TEST(DecodeNode, CountsTheUnitsThatHamiHasRegisteredWhileThePlugInRestarts) {
  for (const char* resource : {"nvidia.com/gpu", "volcano.sh/vgpu-number"}) {
    const Json object = {
        {"metadata",
         {{"name", "a"},
          {"annotations",
           {{"volcano.sh/node-vgpu-register",
             "GPU-a,10,9,1,X,0,true:GPU-b,10,9,1,"
             "X,0,true:"}}}}},
        {"status", {{"capacity", {{resource, "0"}}}, {"allocatable", {{resource, "0"}}}}}};
    const Result<Node> node = DecodeNode(object, "f");
    EXPECT_EQ(node->facts.capacity, (Resources{{resource, 20}}));
  }
}

// Its key is none that a selector in Kubernetes can name, but a snapshot has it.
TEST(DecodeNode, KeepsTheCountOfSharedGpusThatASnapshotHas) {
  const std::string key = fabric::kRegisteredGpus;
  EXPECT_NE(key.find(' '), key.npos);
  const Json object = {{"metadata", {{"name", "a"}, {"labels", {{key, "2"}}}}}};
  const Result<Node> node = DecodeNode(object, "f");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->facts.labels.At(key), "2");
}

}  // namespace
}  // namespace weft::api
