#include "operator/fabric/partition.h"

#include <gtest/gtest.h>

namespace weft::fabric {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

struct PartCase {
  const char* name;
  std::initializer_list<TextMap::Entry> labels;
  const char* resource;
  std::int64_t units;
  const char* part;
  double compute, memory, memory_bytes;
};

class PartitionTest : public ::testing::TestWithParam<PartCase> {};

TEST_P(PartitionTest, SaysWhatOneUnitIs) {
  NodeFacts node;
  node.labels = GetParam().labels;
  node.allocatable = {{"cpu", 1000}, {GetParam().resource, GetParam().units}};
  const Partition part = PartitionOf(node, GetParam().resource);
  EXPECT_EQ(part.name, GetParam().part);
  EXPECT_EQ(part.whole(), part.name.empty());
  EXPECT_DOUBLE_EQ(part.compute, GetParam().compute);
  EXPECT_DOUBLE_EQ(part.memory, GetParam().memory);
  EXPECT_DOUBLE_EQ(part.memory_bytes, GetParam().memory_bytes);
}

constexpr const char* kProduct = "nvidia.com/gpu.product";
constexpr const char* kCount = "nvidia.com/gpu.count";
constexpr const char* kReplicas = "nvidia.com/gpu.replicas";
constexpr const char* kStrategy = "nvidia.com/gpu.sharing-strategy";
constexpr const char* kMemory = "nvidia.com/gpu.memory";
constexpr const char* kGpu = "nvidia.com/gpu";

const PartCase kPartCases[] = {
    {"WithoutLabelsItIsWhole", {}, kGpu, 8, "", 1, 1, 0},
    {"AWholeGpu",
     {{kProduct, "NVIDIA-H100-80GB-HBM3"}, {kCount, "8"}, {kReplicas, "1"}, {kStrategy, "none"}},
     kGpu,
     8,
     "",
     1,
     1,
     0},
    {"FewerUnitsThanGpusAreWhole", {{kCount, "8"}}, kGpu, 7, "", 1, 1, 0},
    {"ATimeSlice",
     {{kProduct, "Tesla-T4-SHARED"}, {kReplicas, "4"}, {kCount, "4"}, {kStrategy, "time-slicing"}},
     kGpu,
     16,
     "time slice 1/4",
     0.25,
     0.25,
     0},
    {"ARenamedTimeSliceKeepsItsProduct",
     {{kProduct, "Tesla-T4"}, {kReplicas, "4"}, {kStrategy, "time-slicing"}},
     "nvidia.com/gpu.shared",
     16,
     "time slice 1/4",
     0.25,
     0.25,
     0},
    {"ReplicasThatAreTheNodesSum",
     {{kProduct, "Tesla-T4-SHARED"}, {kReplicas, "16"}, {kCount, "4"}},
     kGpu,
     16,
     "time slice 1/4",
     0.25,
     0.25,
     0},
    {"MoreUnitsThanGpusWithoutAnotherLabel",
     {{kCount, "2"}},
     kGpu,
     20,
     "time slice 1/10",
     0.1,
     0.1,
     0},
    {"ASharedProductOfUnknownReplicas",
     {{kProduct, "Tesla-T4-SHARED"}},
     kGpu,
     16,
     "time slice",
     0,
     0,
     0},
    {"Mps",
     {{kProduct, "NVIDIA-L40S-SHARED"}, {kReplicas, "2"}, {kStrategy, "mps"}},
     kGpu,
     16,
     "MPS 1/2",
     0.5,
     0.5,
     0},
    {"GkeTimeSharing",
     {{"cloud.google.com/gke-gpu-sharing-strategy", "time-sharing"},
      {"cloud.google.com/gke-max-shared-clients-per-gpu", "2"}},
     kGpu,
     16,
     "time slice 1/2",
     0.5,
     0.5,
     0},
    {"MigOfTheStrategySingle",
     {{kProduct, "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"}, {kCount, "56"}, {kMemory, "9856"}},
     kGpu,
     56,
     "MIG 1g.10gb",
     1.0 / 7,
     0,
     9856 * kMiB},
    {"MigOfTheStrategyMixed",
     {{kProduct, "NVIDIA-H100-80GB-HBM3"},
      {kMemory, "81559"},
      {"nvidia.com/mig-3g.40gb.memory", "40192"}},
     "nvidia.com/mig-3g.40gb",
     16,
     "MIG 3g.40gb",
     3.0 / 7,
     0,
     40192 * kMiB},
    {"MigWithoutLabelsHasTheMemoryOfItsName",
     {},
     "nvidia.com/mig-2g.20gb",
     3,
     "MIG 2g.20gb",
     2.0 / 7,
     0,
     20e9},
    {"AMigOfWhichOneComputeInstanceIsUsed",
     {},
     "nvidia.com/mig-1c.3g.40gb",
     3,
     "MIG 1c.3g.40gb",
     1.0 / 7,
     0,
     40e9},
    {"AMigWithMediaExtensions",
     {},
     "nvidia.com/mig-1g.10gb.me",
     1,
     "MIG 1g.10gb.me",
     1.0 / 7,
     0,
     10e9},
    {"AnA30HasFourSlices",
     {{kProduct, "NVIDIA-A30"}},
     "nvidia.com/mig-1g.6gb",
     4,
     "MIG 1g.6gb",
     0.25,
     0,
     6e9},
    {"ASlicedMig",
     {{kProduct, "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED"}, {kReplicas, "2"}, {kMemory, "4864"}},
     kGpu,
     14,
     "MIG 1g.5gb, time slice 1/2",
     1.0 / 14,
     0,
     2432 * kMiB},
    {"AGkePartition",
     {{"cloud.google.com/gke-accelerator", "nvidia-tesla-a100"},
      {"cloud.google.com/gke-gpu-partition-size", "1g.5gb"}},
     kGpu,
     7,
     "MIG 1g.5gb",
     1.0 / 7,
     0,
     5e9},
    {"AVirtualGpu",
     {{kProduct, "GRID-V100-8Q"}, {kMemory, "8192"}},
     kGpu,
     1,
     "vGPU",
     0,
     0,
     8192 * kMiB},
    {"AProductThatOnlyLooksLikeAVirtualGpu", {{kProduct, "Quadro-RTX-8Q"}}, kGpu, 1, "", 1, 1, 0},
    {"AmdByItsLabel",
     {{"amd.com/gpu.compute-memory-partition", "CPX_NPS1"},
      {"amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM"}},
     "amd.com/gpu",
     64,
     "CPX 1/8",
     0.125,
     0.125,
     0},
    {"AmdByItsResource", {}, "amd.com/dpx_nps1", 16, "DPX 1/2", 0.5, 0.5, 0},
    {"AnMi300aHasSix",
     {{"amd.com/compute-memory-partition", "cpx_nps1"},
      {"amd.com/gpu.product-name", "AMD_Instinct_MI300A"}},
     "amd.com/gpu",
     24,
     "CPX 1/6",
     1.0 / 6,
     1.0 / 6,
     0},
    {"AmdSpxIsWhole",
     {{"amd.com/gpu.compute-memory-partition", "SPX_NPS1"}},
     "amd.com/gpu",
     8,
     "",
     1,
     1,
     0},
    {"AmdByItsComputeUnits",
     {{"amd.com/gpu.cu-count", "38"}, {"amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM"}},
     "amd.com/gpu",
     64,
     "CPX 1/8",
     0.125,
     0.125,
     0},
    {"AmdByItsComputeUnitsAndDeviceNumber",
     {{"beta.amd.com/gpu.cu-count.114", "8"}, {"beta.amd.com/gpu.device-id.74a0", "8"}},
     "amd.com/gpu",
     8,
     "DPX 1/2",
     0.5,
     0.5,
     0},
    {"AmdWithAllComputeUnitsIsWhole",
     {{"amd.com/gpu.cu-count", "304"},
      {"amd.com/gpu.compute-partitioning-supported", "true"},
      {"amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM"}},
     "amd.com/gpu",
     8,
     "",
     1,
     1,
     0},
    {"AmdComputeUnitsOfAnUnknownProductSayNothing",
     {{"amd.com/gpu.cu-count", "104"}, {"amd.com/gpu.product-name", "AMD_Instinct_MI210"}},
     "amd.com/gpu",
     8,
     "",
     1,
     1,
     0},
    {"AMoreExactLabelBeatsAmdsComputeUnits",
     {{"amd.com/compute-memory-partition", "spx_nps1"},
      {"amd.com/gpu.cu-count", "38"},
      {"amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM"}},
     "amd.com/gpu",
     8,
     "",
     1,
     1,
     0},
    {"AGpuThatHamiShares", {{kRegisteredGpus, "8"}}, kGpu, 80, "time slice 1/10", 0.1, 0.1, 0},
    {"AGpuThatVolcanoShares",
     {{kCount, "8"}},
     "volcano.sh/vgpu-number",
     80,
     "time slice 1/10",
     0.1,
     0.1,
     0},
    {"WholeGpusOfAnotherPlugIn", {{kCount, "8"}}, "volcano.sh/gpu-number", 8, "", 1, 1, 0},
    {"MemoryOfGpus", {}, "aliyun.com/gpu-mem", 640, "memory or cores of one", 0, 0, 0},
    {"AVirtualNpu", {}, "huawei.com/Ascend910-8c", 4, "vNPU 8c", 0, 0, 0},
    {"AVirtualNpuWithProcessors", {}, "huawei.com/Ascend310P-2c.1cpu", 4, "vNPU 2c", 0, 0, 0},
    {"AWholeNpu", {}, "huawei.com/Ascend910B-x2", 8, "", 1, 1, 0},
    {"AGpuThatIntelsPlugInShares",
     {{"gpu.intel.com/device.count", "2"}},
     "gpu.intel.com/i915",
     8,
     "time slice 1/4",
     0.25,
     0.25,
     0},
    {"WholeGpusOfIntel", {{"gpu.intel.com/device.count", "8"}}, "gpu.intel.com/xe", 8, "", 1, 1, 0},
    {"GpusThatHamiSharesUnequally", {{kRegisteredGpus, "8"}}, kGpu, 77, "time slice", 0, 0, 0},
    {"WholeGpusOnANodeThatHamiHasLeft", {{kRegisteredGpus, "8"}}, kGpu, 8, "", 1, 1, 0},
};
INSTANTIATE_TEST_SUITE_P(Nodes, PartitionTest, ::testing::ValuesIn(kPartCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(PartitionTest, AMixedNodesWholeGpusAreWhole) {
  NodeFacts node;
  node.labels = {{kProduct, "NVIDIA-H100-80GB-HBM3"}, {kCount, "4"}};
  node.allocatable = {{kGpu, 4}, {"nvidia.com/mig-1g.10gb", 28}};
  EXPECT_TRUE(PartsOf(node).empty());
  EXPECT_TRUE(PartitionOf(node, kGpu).whole());
  EXPECT_FALSE(PartitionOf(node, "nvidia.com/mig-1g.10gb").whole());
}

// The label of their number counts those that are cut too.
TEST(PartitionTest, TheGpusOfAMixedNodeShareByTheirReplicas) {
  NodeFacts node;
  node.labels = {
      {kProduct, "NVIDIA-H100-80GB-HBM3-SHARED"}, {kCount, "8"}, {"nvidia.com/gpu.replicas", "4"}};
  node.allocatable = {{kGpu, 16}, {"nvidia.com/mig-1g.10gb", 28}};
  EXPECT_EQ(PartitionOf(node, kGpu).name, "time slice 1/4");
}

TEST(ShareOfUnit, IsSaidByItsName) {
  EXPECT_EQ(ShareOfUnit("NVIDIA-H100-80GB-HBM3"), 1);
  EXPECT_EQ(ShareOfUnit("NVIDIA-L40S time slice 1/4"), 0.25);
  EXPECT_EQ(ShareOfUnit("NVIDIA-A30 MIG 1g.6gb"), 0.25);
  EXPECT_EQ(ShareOfUnit("NVIDIA-H100-80GB-HBM3 MIG 1g.10gb"), 1.0 / 7);
  EXPECT_EQ(ShareOfUnit("NVIDIA-H100-80GB-HBM3-MIG-3g.40gb"), 3.0 / 7);
  EXPECT_EQ(ShareOfUnit("AMD_Instinct_MI300X_OAM CPX 1/8"), 0.125);
  EXPECT_EQ(ShareOfUnit("NVIDIA-H100-80GB-HBM3 memory or cores of one"), std::nullopt);
  EXPECT_EQ(ShareOfUnit("NVIDIA-L40S time slice"), std::nullopt);
}

TEST(PartitionTest, APartByItsNameNeedsNoLabel) {
  NodeFacts node;
  node.allocatable = {{"amd.com/cpx_nps4", 64}};
  const auto parts = PartsOf(node);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts.begin()->second.name, "CPX 1/8");
}

// Each resource of a node has its own parts: whole NPUs beside virtual ones, eight GPUs beside the
// shared one of the processor, MIG slices that take turns.
TEST(PartitionTest, APartOfOneResourceIsNoneOfAnother) {
  const auto parts = [](Resources allocatable, TextMap labels) {
    NodeFacts node;
    node.labels = labels;
    node.allocatable = std::move(allocatable);
    std::map<std::string, std::string> names;
    for (const auto& [resource, part] : PartsOf(node)) names[resource] = part.name;
    return names;
  };
  using Names = std::map<std::string, std::string>;
  EXPECT_EQ(parts({{"huawei.com/Ascend910", 7}, {"huawei.com/Ascend910-8c", 4}}, {}),
            (Names{{"huawei.com/Ascend910-8c", "vNPU 8c"}}));
  EXPECT_EQ(parts({{kGpu, 8}, {"gpu.intel.com/i915", 10}}, {{kProduct, "NVIDIA-H100-80GB-HBM3"},
                                                            {kCount, "8"},
                                                            {"gpu.intel.com/device.count", "1"}}),
            (Names{{"gpu.intel.com/i915", "time slice 1/10"}}));
  EXPECT_EQ(parts({{"nvidia.com/mig-1g.10gb", 28}},
                  {{"nvidia.com/mig-1g.10gb.replicas", "4"}, {kProduct, "NVIDIA-H100-80GB-HBM3"}}),
            (Names{{"nvidia.com/mig-1g.10gb", "MIG 1g.10gb, time slice 1/4"}}));
}

TEST(WholeProductTest, IsTheProductWithoutItsPart) {
  EXPECT_EQ(WholeProduct("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb-SHARED"), "NVIDIA-H100-80GB-HBM3");
  EXPECT_EQ(WholeProduct("Tesla-T4-SHARED"), "Tesla-T4");
  EXPECT_EQ(WholeProduct("Tesla-T4"), "Tesla-T4");
  EXPECT_EQ(WholeProduct(""), "");
}

}  // namespace
}  // namespace weft::fabric
