#include "operator/fabric/pools.h"

#include <gtest/gtest.h>

#include <set>

#include "operator/fabric/fabric.h"
#include "operator/fabric/partition.h"

namespace weft::fabric {
namespace {

using Labels = std::initializer_list<TextMap::Entry>;

struct LabelCase {
  const char* name;
  Labels labels;
  const char* product;
  std::optional<CapacityType> capacity;
};

class PoolLabelTest : public ::testing::TestWithParam<LabelCase> {};

TEST_P(PoolLabelTest, NamesProductAndCapacityType) {
  NodeFacts node;
  node.labels = GetParam().labels;
  const PoolLabels labels = ReadPoolLabels(node);
  EXPECT_EQ(labels.product, GetParam().product);
  EXPECT_EQ(labels.capacity, GetParam().capacity);
}

constexpr auto kSpot = CapacityType::kSpot;
constexpr auto kOnDemand = CapacityType::kOnDemand;
const LabelCase kLabelCases[] = {
    {"NoLabelSaysNothing", {{"pool", "spot"}}, "", std::nullopt},
    {"GpuFeatureDiscoverySaysTheProduct",
     {{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
      {"karpenter.k8s.aws/instance-gpu-name", "h100"}},
     "NVIDIA-H100-80GB-HBM3",
     std::nullopt},
    {"AmdsLabellerSaysIt",
     {{"amd.com/gpu.product-name", "Instinct_MI300X"}},
     "Instinct_MI300X",
     std::nullopt},
    {"GkeSaysIt",
     {{"cloud.google.com/gke-accelerator", "nvidia-h100-80gb"}},
     "nvidia-h100-80gb",
     std::nullopt},
    {"EksAutoModeSaysIt", {{"eks.amazonaws.com/instance-gpu-name", "h100"}}, "h100", std::nullopt},
    {"KarpenterOnAzureSaysIt",
     {{"karpenter.azure.com/sku-gpu-name", "A100"}},
     "A100",
     std::nullopt},
    {"CoreWeaveSaysIt",
     {{"gpu.nvidia.com/model", "H100_NVLINK_80GB"}},
     "H100_NVLINK_80GB",
     std::nullopt},
    {"TheAutoscalersLabelSaysIt",
     {{"k8s.amazonaws.com/accelerator", "nvidia-tesla-v100"}},
     "nvidia-tesla-v100",
     std::nullopt},
    {"AShortNameIsMadeExactByTheInstanceType",
     {{"eks.amazonaws.com/instance-gpu-name", "a100"}, {kInstanceType, "p4d.24xlarge"}},
     "A100-40GB",
     std::nullopt},
    {"TheNameBeforeKubernetes117CountsToo",
     {{"karpenter.azure.com/sku-gpu-name", "H100"},
      {"beta.kubernetes.io/instance-type", "Standard_NC40ads_H100_v5"}},
     "H100-NVL",
     std::nullopt},
    {"AnInstanceTypeThatSaysNoMoreChangesNothing",
     {{"karpenter.k8s.aws/instance-gpu-name", "h100"}, {kInstanceType, "p5.48xlarge"}},
     "h100",
     std::nullopt},
    {"AFullNameIsNotChanged",
     {{"nvidia.com/gpu.product", "NVIDIA-A100"}, {kInstanceType, "p4d.24xlarge"}},
     "NVIDIA-A100",
     std::nullopt},
    {"ALabelOfAnotherDomain",
     {{"karpenter.example.com/instance-gpu-name", "B200"}},
     "B200",
     std::nullopt},
    {"AKnownLabelComesBeforeOneOfAnotherDomain",
     {{"a.example.com/gpu.product", "X"}, {"nvidia.com/gpu.product", "NVIDIA-B200"}},
     "NVIDIA-B200",
     std::nullopt},
    {"AnAmdDeviceNumber", {{"beta.amd.com/gpu.device-id", "74a1"}}, "MI300X", std::nullopt},
    {"AmdsLabelOfAVirtualFunction", {{"amd.com/gpu.device-id", "74b5"}}, "MI300X", std::nullopt},
    {"AmdsOldLabelsCountEachValue",
     {{"beta.amd.com/gpu.family.AI", "8"}, {"beta.amd.com/gpu.device-id.74a5", "8"}},
     "MI325X",
     std::nullopt},
    {"AmdsCountedProductComesBeforeTheDevice",
     {{"beta.amd.com/gpu.device-id.74a1", "8"},
      {"beta.amd.com/gpu.product-name.AMD_Instinct_MI325X_OAM", "8"}},
     "AMD_Instinct_MI325X_OAM",
     std::nullopt},
    {"AmdsPlainLabelComesBeforeTheCountedOne",
     {{"amd.com/gpu.product-name", "Instinct_MI300X"},
      {"amd.com/gpu.product-name.AMD_Instinct_MI300X_OAM", "8"}},
     "Instinct_MI300X",
     std::nullopt},
    {"ACountOfNoneSaysNothing", {{"beta.amd.com/gpu.device-id.74a1", "0"}}, "", std::nullopt},
    {"TwoCountedProductsInOneNodeAreNone",
     {{"beta.amd.com/gpu.device-id.74a1", "4"}, {"beta.amd.com/gpu.device-id.74a5", "4"}},
     "",
     std::nullopt},
    {"AVendorIsNoProduct",
     {{"kubernetes.azure.com/accelerator", "nvidia"}, {"gpu-name", "x"}},
     "",
     std::nullopt},
    {"APlaceholderSaysNothing",
     {{"nvidia.com/gpu.product", "unknown"}, {"gpu.nvidia.com/model", "L40S"}},
     "L40S",
     std::nullopt},
    {"AnEmptyLabelSaysNothing", {{"nvidia.com/gpu.product", ""}}, "", std::nullopt},
    {"KarpenterSpot", {{"karpenter.sh/capacity-type", "spot"}}, "", kSpot},
    {"KarpenterReservedIsNotTakenBack",
     {{"karpenter.sh/capacity-type", "reserved"}},
     "",
     kOnDemand},
    {"EksWritesCapitals", {{"eks.amazonaws.com/capacityType", "ON_DEMAND"}}, "", kOnDemand},
    {"EksSpot", {{"eks.amazonaws.com/capacityType", "SPOT"}}, "", kSpot},
    {"GkeSpot",
     {{"cloud.google.com/gke-spot", "true"}, {"cloud.google.com/gke-provisioning", "spot"}},
     "",
     kSpot},
    {"GkePreemptible", {{"cloud.google.com/gke-preemptible", "true"}}, "", kSpot},
    {"GkeStandard", {{"cloud.google.com/gke-provisioning", "standard"}}, "", kOnDemand},
    {"AksSpot", {{"kubernetes.azure.com/scalesetpriority", "spot"}}, "", kSpot},
    {"OkePreemptible", {{"oci.oraclecloud.com/oke-is-preemptible", "true"}}, "", kSpot},
    {"OkeSaysNothingOfOthers",
     {{"oci.oraclecloud.com/oke-is-preemptible", "false"}},
     "",
     std::nullopt},
    {"AnUnknownValueSaysNothing", {{"karpenter.sh/capacity-type", "weekly"}}, "", std::nullopt},
};
INSTANTIATE_TEST_SUITE_P(Labels, PoolLabelTest, ::testing::ValuesIn(kLabelCases),
                         [](const auto& one) { return std::string(one.param.name); });

NodeFacts GpuNode(const char* name, Labels labels, std::int64_t gpus = 8) {
  NodeFacts node;
  node.name = name;
  node.labels = labels;
  node.allocatable = {{"cpu", 1000}};
  if (gpus > 0) node.allocatable["nvidia.com/gpu"] = gpus;
  return node;
}

TEST(Pools, AreOrderedAndTheFabricsModelFillsIn) {
  FabricSpec spec;
  spec.node_selector.emplace();
  spec.accelerator_model = "H100";
  std::vector<NodeFacts> nodes = {
      GpuNode("a", {}), GpuNode("b", {{"nvidia.com/gpu.product", "A100"}}),
      GpuNode("c", {{"karpenter.sh/capacity-type", "spot"}}), GpuNode("d", {}, 0)};
  const auto fabric = Fabric::Build(spec, std::move(nodes), {});
  ASSERT_TRUE(fabric);
  const std::vector<Pool> pools = {
      {"", kOnDemand}, {"A100", kOnDemand}, {"H100", kOnDemand}, {"H100", kSpot}};
  EXPECT_EQ(std::vector<Pool>(fabric->pools().begin(), fabric->pools().end()), pools);
  const auto pool_of = [&](const char* name) { return fabric->pool(*fabric->FindNode(name)); };
  EXPECT_EQ(pool_of("a"), PoolIndex{2});
  EXPECT_EQ(pool_of("b"), PoolIndex{1});
  EXPECT_EQ(pool_of("c"), PoolIndex{3});
  EXPECT_EQ(pool_of("d"), PoolIndex{0});
  const auto gpu = *fabric->FindResource("nvidia.com/gpu");
  EXPECT_FALSE(fabric->PoolOffers(PoolIndex{0}, gpu));
  EXPECT_TRUE(fabric->PoolOffers(PoolIndex{3}, gpu));
}

// Without a product label a gang would otherwise mix A100 and H100.
TEST(PoolsTest, InstanceTypesPartWhatNoProductDoes) {
  const auto node = [](const char* name, Labels labels) {
    NodeFacts facts;
    facts.name = name;
    facts.labels = labels;
    facts.allocatable = {{"nvidia.com/gpu", 8}};
    return facts;
  };
  SharedList<NodeFacts> nodes;
  nodes.push_back(node("a", {{kInstanceType, "p4d.24xlarge"}}));
  nodes.push_back(node("b", {{kInstanceType, "p5.48xlarge"}}));
  nodes.push_back(node("c", {{kInstanceType, "p6.48xlarge"}, {"nvidia.com/gpu.product", "B200"}}));
  const auto fabric = Fabric::Build({}, nodes, {});
  ASSERT_TRUE(fabric);
  std::vector<std::string> products;
  for (const Pool& pool : fabric->pools()) products.push_back(pool.product);
  EXPECT_EQ(products, (std::vector<std::string>{"B200", "p4d.24xlarge", "p5.48xlarge"}));
  FabricSpec spec;
  spec.accelerator_model = "A100";
  const auto named = Fabric::Build(spec, nodes, {});
  ASSERT_TRUE(named);
  EXPECT_EQ(named->pools().size(), 2U);
}

struct UnlabelledCase {
  const char* name;
  const char* type;  // of all nodes
  std::vector<const char*> labelled;
  std::int64_t gpus;  // of the node without a product; the others have 8
  std::vector<std::string> products;
};

// GPU feature discovery labels a new node minutes after it has joined.
TEST(PoolsTest, ANodeWithoutAProductTakesThatOfItsInstanceType) {
  const UnlabelledCase cases[] = {
      {"all share it", "p5.48xlarge", {"H100", "H100"}, 8, {"H100"}},
      {"they differ", "p5.48xlarge", {"H100", "H200"}, 8, {"H100", "H200", "p5.48xlarge"}},
      {"none is labelled", "p5.48xlarge", {}, 8, {"p5.48xlarge"}},
      {"another number of GPUs", "p5.48xlarge", {"H100"}, 4, {"H100", "p5.48xlarge"}},
      {"a type that may have any GPU", "n1-standard-8", {"T4"}, 8, {"T4", "n1-standard-8"}},
      {"parts of GPUs", "g5.xlarge", {"A10G-SHARED"}, 8, {"A10G-SHARED", "g5.xlarge"}},
      {"a name of the distribution", "k3s", {"H100"}, 8, {"H100", "k3s"}},
  };
  for (const UnlabelledCase& one : cases) {
    std::vector<NodeFacts> nodes = {GpuNode("new", {{kInstanceType, one.type}}, one.gpus)};
    for (const char* product : one.labelled) {
      const std::string name = "n" + std::to_string(nodes.size());
      nodes.push_back(
          GpuNode(name.c_str(), {{kInstanceType, one.type}, {"nvidia.com/gpu.product", product}}));
    }
    const auto fabric = Fabric::Build({}, std::move(nodes), {});
    ASSERT_TRUE(fabric) << one.name;
    std::vector<std::string> products;
    for (const Pool& pool : fabric->pools()) products.push_back(pool.product);
    EXPECT_EQ(products, one.products) << one.name;
  }
}

// All nodes have their cloud's label, the last one not yet that of the vendor's tool.
TEST(PoolsTest, ANodeThatOnlyItsCloudHasLabelledTakesTheProductOfItsKind) {
  const char *karpenter = "karpenter.k8s.aws/instance-gpu-name", *device = "amd.com/gpu.device-id",
             *exact = "nvidia.com/gpu.product", *amd = "amd.com/gpu.product-name";
  struct Case {
    const char* name;
    std::vector<std::pair<std::string, std::string>> all, first, second;
    std::vector<std::string> products;
  };
  const Case cases[] = {
      {"Karpenter's",
       {{kInstanceType, "p5.48xlarge"}, {karpenter, "h100"}},
       {{exact, "NVIDIA-H100-80GB-HBM3"}},
       {},
       {"NVIDIA-H100-80GB-HBM3"}},
      {"GKE's",
       {{kInstanceType, "a3-highgpu-8g"}, {"cloud.google.com/gke-accelerator", "nvidia-h100-80gb"}},
       {{exact, "NVIDIA-H100-80GB-HBM3"}},
       {},
       {"NVIDIA-H100-80GB-HBM3"}},
      {"AMD's number",
       {{device, "74a1"}},
       {{amd, "AMD_Instinct_MI300X_OAM"}},
       {},
       {"AMD_Instinct_MI300X_OAM"}},
      {"another number",
       {},
       {{device, "74a1"}, {amd, "MI300X"}},
       {{device, "74a5"}},
       {"MI300X", "MI325X"}},
      {"a short name without a machine",
       {{karpenter, "a100"}},
       {{exact, "NVIDIA-A100-SXM4-40GB"}},
       {},
       {"NVIDIA-A100-SXM4-40GB", "a100"}},
      {"another machine",
       {{karpenter, "a100"}},
       {{kInstanceType, "p4d.24xlarge"}, {exact, "NVIDIA-A100-SXM4-40GB"}},
       {{kInstanceType, "p4de.24xlarge"}},
       {"A100-80GB", "NVIDIA-A100-SXM4-40GB"}},
      {"the vendor's own labels differ",
       {},
       {{exact, "H100"}},
       {{exact, "H200"}},
       {"H100", "H200"}},
      {"an older driver",
       {},
       {{exact, "NVIDIA-A100-SXM4-40GB"}},
       {{exact, "A100-SXM4-40GB"}},
       {"NVIDIA-A100-SXM4-40GB"}},
  };
  for (const Case& one : cases) {
    std::vector<NodeFacts> nodes = {GpuNode("a", {}), GpuNode("b", {})};
    for (NodeFacts& node : nodes) {
      for (const auto& [key, value] : one.all) node.labels.Set(key, value);
    }
    for (const auto& [key, value] : one.first) nodes[0].labels.Set(key, value);
    for (const auto& [key, value] : one.second) nodes[1].labels.Set(key, value);
    const auto fabric = Fabric::Build({}, std::move(nodes), {});
    ASSERT_TRUE(fabric) << one.name;
    std::vector<std::string> products;
    for (const Pool& pool : fabric->pools()) products.push_back(pool.product);
    EXPECT_EQ(products, one.products) << one.name;
  }
}

TEST(PoolsTest, WhatIsOfferedInPartsNamesNoWholeGpus) {
  const TextMap::Entry type{kInstanceType, "p5.48xlarge"};
  const TextMap::Entry cloud{"karpenter.k8s.aws/instance-gpu-name", "h100"};
  const char *product = "nvidia.com/gpu.product", *h100 = "NVIDIA-H100-80GB-HBM3";
  std::vector<NodeFacts> nodes = {
      GpuNode("a", {type, cloud}), GpuNode("b", {type, cloud, {product, h100}}),
      GpuNode("c", {type, cloud, {product, "NVIDIA-H100-80GB-HBM3-SHARED"}}, 32),
      GpuNode("d", {type, cloud}, 32)};
  const auto fabric = Fabric::Build({}, std::move(nodes), {});
  ASSERT_TRUE(fabric);
  const auto product_of = [&](const char* name) {
    return fabric->pools()[fabric->pool(*fabric->FindNode(name))].product;
  };
  EXPECT_EQ(product_of("a"), h100);
  EXPECT_EQ(product_of("b"), h100);
  EXPECT_EQ(product_of("c"), "NVIDIA-H100-80GB-HBM3-SHARED");
  EXPECT_EQ(product_of("d"), "h100") << "parts of unknown size";
}

// The name of an older driver is one of the driver's own: a cloud's may be that of parts.
TEST(PoolsTest, OnlyADriversNameIsMadeANewDrivers) {
  const TextMap::Entry type{kInstanceType, "Standard_NC80adis_H100_v5"};
  std::vector<NodeFacts> nodes = {
      GpuNode("a", {type, {"nvidia.com/gpu.product", "NVIDIA-H100-NVL"}}, 2),
      GpuNode("b", {type, {"kubernetes.azure.com/sku-gpu-name", "H100"}}, 20)};
  const auto fabric = Fabric::Build({}, std::move(nodes), {});
  ASSERT_TRUE(fabric);
  EXPECT_EQ(fabric->pools().size(), 2U);
}

TEST(PoolsTest, PartsOfAnotherPlugInsResourceAreAPoolOfTheirOwn) {
  const auto node = [](const char* name, const char* resource, std::int64_t units) {
    NodeFacts one = GpuNode(name, {{"nvidia.com/gpu.count", "8"}}, 0);
    one.allocatable[resource] = units;
    return one;
  };
  FabricSpec spec;
  spec.accelerator_resources = {"volcano.sh/vgpu-number"};
  const auto parts = [&](const char* resource, std::int64_t units) {
    const auto fabric =
        Fabric::Build(spec, {node("a", resource, units), node("b", resource, 8)}, {});
    std::set<std::string> names;
    for (const Pool& pool : fabric->pools()) names.insert(std::string(pool.PartOf(resource)));
    return names;
  };
  EXPECT_EQ(parts("volcano.sh/gpu-number", 80), (std::set<std::string>{"", "time slice 1/10"}));
  EXPECT_EQ(parts("volcano.sh/vgpu-number", 80), (std::set<std::string>{"", "time slice 1/10"}));
  EXPECT_EQ(parts("huawei.com/Ascend910-8c", 4), (std::set<std::string>{"vNPU 8c"}));
}

// One is new, another has the cloud's label besides, the third that of the vendor's tool too.
TEST(PoolsTest, TheBestLabelOfAKindCounts) {
  const TextMap::Entry type{kInstanceType, "p5.48xlarge"};
  const TextMap::Entry cloud{"karpenter.k8s.aws/instance-gpu-name", "h100"};
  std::vector<NodeFacts> nodes = {
      GpuNode("a", {type}), GpuNode("b", {type, cloud}),
      GpuNode("c", {type, cloud, {"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"}})};
  const auto fabric = Fabric::Build({}, std::move(nodes), {});
  ASSERT_TRUE(fabric);
  ASSERT_EQ(fabric->pools().size(), 1U);
  EXPECT_EQ(fabric->pools()[PoolIndex{0}].product, "NVIDIA-H100-80GB-HBM3");
}

TEST(PoolsTest, AnUnlabelledNodeWhosePlugInRestartsTakesTheProductToo) {
  NodeFacts away = GpuNode("new", {{kInstanceType, "p5.48xlarge"}}, 0);
  away.capacity = {{"nvidia.com/gpu", 8}};
  std::vector<NodeFacts> nodes = {
      away, GpuNode("n", {{kInstanceType, "p5.48xlarge"}, {"nvidia.com/gpu.product", "H100"}})};
  const auto fabric = Fabric::Build({}, std::move(nodes), {});
  ASSERT_TRUE(fabric);
  ASSERT_EQ(fabric->pools().size(), 1U);
  EXPECT_EQ(fabric->pools()[PoolIndex{0}].product, "H100");
}

TEST(PoolsTest, PartsOfGpusAreAPoolOfTheirOwn) {
  const auto pool = [](Labels labels) {
    NodeFacts node;
    node.labels = labels;
    node.allocatable = {{"nvidia.com/gpu", 8}};
    return PoolOf(node, {});
  };
  const char* gke = "cloud.google.com/gke-accelerator";
  const Pool whole = pool({{gke, "nvidia-l4"}});
  const Pool shared = pool({{gke, "nvidia-l4"},
                            {"cloud.google.com/gke-max-shared-clients-per-gpu", "4"},
                            {"cloud.google.com/gke-gpu-sharing-strategy", "time-sharing"}});
  EXPECT_EQ(whole.PartOf("nvidia.com/gpu"), "");
  EXPECT_EQ(shared.PartOf("nvidia.com/gpu"), "time slice 1/4");
  EXPECT_EQ(shared.product, whole.product);
  EXPECT_NE(shared, whole);
}

// Neither has another label that tells of parts.
TEST(PoolsTest, PartsThatOnlyCountsTellAreAPoolOfTheirOwn) {
  const auto part = [](const char* resource, std::int64_t units, Labels labels) {
    NodeFacts node;
    node.labels = labels;
    node.allocatable = {{resource, units}};
    return std::string(PoolOf(node, {}).PartOf(resource));
  };
  EXPECT_EQ(part("nvidia.com/gpu", 80, {{kRegisteredGpus, "8"}}), "time slice 1/10");
  const auto amd = [&](std::int64_t gpus, const char* units) {
    return part(
        "amd.com/gpu", gpus,
        {{"amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM"}, {"amd.com/gpu.cu-count", units}});
  };
  EXPECT_EQ(amd(64, "38"), "CPX 1/8");
  EXPECT_EQ(amd(8, "304"), "");
}

// A device plug-in that restarts: nothing is allocatable for a moment.
TEST(FabricTest, ANodeWhoseAcceleratorsAreNotAllocatableStays) {
  SharedList<NodeFacts> nodes;
  for (const std::int64_t offered : {8, 7, 0}) {
    NodeFacts node;
    node.name = "n" + std::to_string(offered);
    node.allocatable = {{"cpu", 1000}};
    if (offered > 0) node.allocatable["nvidia.com/gpu"] = offered;
    if (offered < 8) node.capacity = {{"nvidia.com/gpu", 8}};
    nodes.push_back(std::move(node));
  }
  const auto fabric = Fabric::Build({}, std::move(nodes), {});
  ASSERT_TRUE(fabric);
  ASSERT_EQ(fabric->node_count(), 3U);
  const auto gpu = *fabric->FindResource("nvidia.com/gpu");
  std::vector<std::int64_t> allocatable, capacity;
  std::vector<std::string> why;
  for (const NodeIndex n : Range<NodeIndex>(fabric->node_count())) {
    allocatable.push_back(fabric->allocatable(n, gpu));
    capacity.push_back(fabric->capacity(n, gpu));
    why.push_back(fabric->unusable_why(n));
  }
  EXPECT_EQ(allocatable, (std::vector<std::int64_t>{0, 7, 8}));
  EXPECT_EQ(capacity, (std::vector<std::int64_t>{8, 8, 8}));
  EXPECT_EQ(why, (std::vector<std::string>{"0 of 8 nvidia.com/gpu are allocatable", "", ""}));
}

TEST(FabricTest, AResourceThatTheFabricNamesIsAnAcceleratorWhileNoneIsAllocatable) {
  NodeFacts node;
  node.name = "n";
  node.allocatable = {{"cpu", 1000}};
  node.capacity = {{"example.com/nic", 2}, {"example.com/x1", 16}};
  SharedList<NodeFacts> nodes;
  nodes.push_back(node);
  const auto why = [&nodes](const std::vector<std::string>& named) -> std::string {
    FabricSpec spec;
    spec.accelerator_resources = named;
    const auto fabric = Fabric::Build(spec, nodes, {});
    if (!fabric) return fabric.error().message;
    return fabric->node_count() == 0 ? "none" : fabric->unusable_why(NodeIndex{0});
  };
  EXPECT_EQ(why({"example.com/x1"}), "0 of 16 example.com/x1 are allocatable");
  EXPECT_EQ(why({"example.com/other"}), "none");
}

TEST(Pool, NamesWhatAUnitOfAResourceIs) {
  Pool pool;
  pool.product = "H100";
  pool.parts = {{"nvidia.com/gpu.shared", "time slice 1/4"}};
  EXPECT_EQ(pool.UnitOf("nvidia.com/gpu"), "H100");
  EXPECT_EQ(pool.UnitOf("nvidia.com/gpu.shared"), "H100 time slice 1/4");
  EXPECT_EQ(pool.UnitOf("nvidia.com/mig-1g.10gb"), "H100 MIG 1g.10gb");
  pool.product = "";
  EXPECT_EQ(pool.UnitOf("nvidia.com/gpu"), "");
  EXPECT_EQ(pool.UnitOf("nvidia.com/mig-1g.10gb"), "nvidia.com/mig-1g.10gb MIG 1g.10gb");
  pool.product = "H100-MIG-1g.10gb";
  EXPECT_EQ(pool.UnitOf("nvidia.com/gpu"), "H100-MIG-1g.10gb");
}

// As the examples in Kubernetes' pages have it; sites write anything there.
TEST(PoolOf, APlainLabelNamesTheProductWhereNothingElseDoes) {
  const auto product = [](TextMap labels, const std::string& model = "") {
    NodeFacts node;
    node.labels = std::move(labels);
    node.allocatable = {{"nvidia.com/gpu", 8}};
    FabricSpec spec;
    spec.accelerator_model = model;
    return PoolOf(node, spec).product;
  };
  constexpr const char* kType = "node.kubernetes.io/instance-type";
  EXPECT_EQ(product({{"accelerator", "nvidia-tesla-t4"}}), "t4");
  EXPECT_EQ(product({{"accelerator", "gpu-a100-80gb-7"}}), "a100-80gb");
  for (const char* nothing : {"nvidia", "8", "gpu-pool-1", "huawei-Ascend910"}) {
    EXPECT_EQ(product({{"accelerator", nothing}}), "") << nothing;
  }
  EXPECT_EQ(product({{"accelerator", "a100"}, {"acme.example/gpu.product", "H100"}}), "H100");
  EXPECT_EQ(product({{"accelerator", "t4"}}, "NVIDIA-H100-80GB-HBM3"), "NVIDIA-H100-80GB-HBM3");
  EXPECT_EQ(product({{"accelerator", "t4"}, {kType, "p5.48xlarge"}}), "p5.48xlarge");
  EXPECT_EQ(product({{"accelerator", "t4"}, {kType, "k3s"}}), "t4");
}

}  // namespace
}  // namespace weft::fabric
