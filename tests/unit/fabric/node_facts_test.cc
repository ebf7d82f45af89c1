#include "operator/fabric/node_facts.h"

#include "gtest/gtest.h"

namespace weft::fabric {
namespace {

TEST(NodeFactsTest, KnowsTheResourcesOfAcceleratorPlugins) {
  for (const char* name : {"nvidia.com/gpu",
                           "nvidia.com/gpu.shared",
                           "nvidia.com/mig-1g.10gb",
                           "amd.com/gpu",
                           "amd.com/cpx_nps4",
                           "gpu.intel.com/i915",
                           "gpu.intel.com/xe",
                           "habana.ai/gaudi",
                           "google.com/tpu",
                           "aws.amazon.com/neuron",
                           "aws.amazon.com/neuroncore",
                           "nvidia.com/gpu-h100",
                           "nvidia.com/gpu-h100.shared",
                           "nvidia.com/gpu.h100-sxm",
                           "amd.com/gpu-mi300x",
                           "iluvatar.ai/gpu",
                           "huawei.com/Ascend910",
                           "cambricon.com/mlu",
                           "kunlunxin.com/xpu",
                           "enflame.com/gcu"}) {
    EXPECT_TRUE(IsAcceleratorResource(name)) << name;
  }
}

TEST(NodeFactsTest, OtherResourcesAreNoAccelerators) {
  for (const char* name : {"cpu",
                           "memory",
                           "pods",
                           "",
                           "rdma/ib",
                           "nvidia.com/gpumem",
                           "nvidia.com/hostdev",
                           "vpc.amazonaws.com/efa",
                           "hugepages-2Mi",
                           "gpu",
                           "example.kubernetes.io/gpu",
                           "nvidia.com/gpu-memory",
                           "nvidia.com/gpu.cores",
                           "aliyun.com/gpu-mem",
                           "cambricon.com/mlu.share",
                           "gpu.intel.com/i915_monitoring",
                           "amd.com/nic",
                           "cambricon.com/mlu.smlu.vcore",
                           "cambricon.com/mlu370.smlu.vmemory",
                           "koordinator.sh/gpu",
                           "koordinator.sh/gpu.shared",
                           "koordinator.sh/gpu-memory-ratio"}) {
    EXPECT_FALSE(IsAcceleratorResource(name)) << name;
  }
}

}  // namespace
}  // namespace weft::fabric
