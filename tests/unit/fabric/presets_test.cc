#include "operator/fabric/presets.h"

#include <set>

#include "gtest/gtest.h"
#include "operator/fabric/fabric.h"

namespace weft::fabric {
namespace {

using Labels = std::map<std::string, std::string>;

std::vector<NodeFacts> Nodes(const std::vector<Labels>& labels) {
  std::vector<NodeFacts> nodes;
  for (const Labels& each : labels) {
    NodeFacts node;
    node.name = std::string("n").append(std::to_string(nodes.size()));
    node.labels = each;
    node.allocatable = {{"nvidia.com/gpu", 8}};
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// "spine=KEY leaf=KEY(Path) | nvlink=KEY(ComputeDomain)", or "error: ...".
std::string Expand(const std::string& preset, const std::vector<NodeFacts>& nodes) {
  FabricSpec spec;
  spec.preset = preset;
  const Result<FabricSpec> expanded = ExpandPreset(spec, nodes);
  if (!expanded) return std::string("error: ").append(expanded.error().message);
  std::string text;
  for (const LevelSpec& level : expanded->levels) {
    text.append(text.empty() ? "" : " ").append(level.name).append("=").append(level.label_key);
    if (level.identity == Identity::kPath) text.append("(Path)");
  }
  if (!expanded->scale_up) return text;
  text.append(" | ").append(expanded->scale_up->name).append("=");
  text.append(expanded->scale_up->label_key);
  if (expanded->scale_up->requires_claim == ScaleUpRequires::kComputeDomain) {
    text.append("(ComputeDomain)");
  }
  return text;
}

const std::string kV1 = "fabric.topograph.run/tier-";
const std::string kV03 = "network.topology.nvidia.com/";
const std::string kAWS = "topology.k8s.aws/network-node-layer-";
const std::string kGKE = "cloud.google.com/gce-topology-";
const std::string kOCI = "oci.oraclecloud.com/";
const std::string kNebius = "topology.nebius.com/tier-";

struct Case {
  const char* name;
  const char* preset;
  std::vector<Labels> labels;
  std::string want;
};

std::vector<Case> NvidiaCases() {
  return {
      {"topograph 1 counts from the node",
       "TopographV1",
       {{{kV1 + "0", "sw-1"}, {kV1 + "1", "sw-9"}, {"accelerator.topograph.run/domain", "d"}}},
       "spine=" + kV1 + "1 leaf=" + kV1 + "0 | nvlink=accelerator.topograph.run/domain"},
      {"as many tiers as the fabric has",
       "TopographV1",
       {{{kV1 + "0", "a"}, {kV1 + "1", "b"}, {kV1 + "2", "c"}, {kV1 + "3", "d"}}},
       "zone=" + kV1 + "3 core=" + kV1 + "2 spine=" + kV1 + "1 leaf=" + kV1 + "0"},
      {"one tier is leaf", "TopographV1", {{{kV1 + "0", "a"}}}, "leaf=" + kV1 + "0"},
      {"the clique where topograph names no domain",
       "TopographV1",
       {{{kV1 + "0", "a"}, {"nvidia.com/gpu.clique", "u.1"}}},
       "leaf=" + kV1 + "0 | nvlink=nvidia.com/gpu.clique(ComputeDomain)"},
      {"the family's own domain before the clique",
       "TopographV1",
       {{{kV1 + "0", "a"},
         {"nvidia.com/gpu.clique", "u.1"},
         {"accelerator.topograph.run/domain", "d"}}},
       "leaf=" + kV1 + "0 | nvlink=accelerator.topograph.run/domain"},
      {"no label at all names the narrowest key", "TopographV1", {{}}, "leaf=" + kV1 + "0"},
      {"topograph 0.3",
       "TopographV03",
       {{{kV03 + "leaf", "a"}, {kV03 + "spine", "b"}, {kV03 + "core", "c"}}},
       "core=" + kV03 + "core spine=" + kV03 + "spine leaf=" + kV03 + "leaf"},
      {"topograph 0.1",
       "TopographV01",
       {{{kV03 + "block", "a"},
         {kV03 + "spine", "b"},
         {kV03 + "datacenter", "c"},
         {kV03 + "accelerator", "d"}}},
       "core=" + kV03 + "datacenter spine=" + kV03 + "spine leaf=" + kV03 +
           "block | nvlink=" + kV03 + "accelerator"},
  };
}

std::vector<Case> CloudCases() {
  return {
      {"AWS counts from the top",
       "AWS",
       {{{kAWS + "1", "nn-1"}, {kAWS + "2", "nn-2"}, {kAWS + "3", "nn-3"}}},
       "core=" + kAWS + "1 spine=" + kAWS + "2 leaf=" + kAWS + "3"},
      {"AWS with four layers",
       "AWS",
       {{{kAWS + "1", "nn-1"},
         {kAWS + "2", "nn-2"},
         {kAWS + "3", "nn-3"},
         {kAWS + "4", "nn-4"},
         {"topology.k8s.aws/ultraserver-id", "us-1"}}},
       "zone=" + kAWS + "1 core=" + kAWS + "2 spine=" + kAWS + "3 leaf=" + kAWS +
           "4 | nvlink=topology.k8s.aws/ultraserver-id"},
      {"GKE, one node per host",
       "GKE",
       {{{kGKE + "block", "b"}, {kGKE + "subblock", "s"}, {kGKE + "host", "h"}}},
       "spine=" + kGKE + "block leaf=" + kGKE + "subblock"},
      {"GKE, two nodes on a host",
       "GKE",
       {{{kGKE + "block", "b"}, {kGKE + "subblock", "s"}, {kGKE + "host", "h"}},
        {{kGKE + "block", "b"}, {kGKE + "subblock", "s"}, {kGKE + "host", "h"}}},
       "spine=" + kGKE + "block leaf=" + kGKE + "subblock host=" + kGKE + "host"},
      {"OCI",
       "OCI",
       {{{kOCI + "rdma.local_block_id", "l"}, {kOCI + "host.gpu_memory_fabric_id", "f"}}},
       "core=" + kOCI + "rdma.hpc_island_id spine=" + kOCI + "rdma.network_block_id leaf=" + kOCI +
           "rdma.local_block_id | nvlink=" + kOCI + "host.gpu_memory_fabric_id"},
      {"a placeholder is no memory fabric",
       "OCI",
       {{{kOCI + "host.gpu_memory_fabric_id", "no-imds-data"}}},
       "core=" + kOCI + "rdma.hpc_island_id spine=" + kOCI + "rdma.network_block_id leaf=" + kOCI +
           "rdma.local_block_id"},
      {"Nebius counts from the GPU",
       "Nebius",
       {{{kNebius + "0", "nv"}, {kNebius + "1", "a"}, {kNebius + "2", "b"}}},
       "spine=" + kNebius + "2 leaf=" + kNebius + "1 | nvlink=" + kNebius + "0"},
      {"CoreWeave",
       "CoreWeave",
       {{{"ds.coreweave.com/nvlink.domain", "DH4-016-US-EAST-02A"}}},
       "core=ib.coreweave.cloud/fabric(Path) spine=ib.coreweave.cloud/superpod(Path) "
       "leaf=ib.coreweave.cloud/leafgroup(Path) | nvlink=ds.coreweave.com/nvlink.domain"},
      {"Crusoe",
       "Crusoe",
       {{{"crusoe.ai/pod.id", "p"}, {"crusoe.ai/ib.partition.id", "i"}}},
       "spine=crusoe.ai/ib.partition.id leaf=crusoe.ai/pod.id"},
      {"racks and zones",
       "RackZone",
       {{{"topology.kubernetes.io/rack", "r1"}, {"topology.kubernetes.io/zone", "z"}}},
       "spine=topology.kubernetes.io/zone(Path) leaf=topology.kubernetes.io/rack(Path)"},
      {"zones alone",
       "RackZone",
       {{{"topology.kubernetes.io/zone", "z"}}},
       "leaf=topology.kubernetes.io/zone(Path)"},
      {"Azure",
       "Azure",
       {{{"topology.kubernetes.io/region", "eastus"}, {"topology.kubernetes.io/zone", "eastus-1"}}},
       "spine=topology.kubernetes.io/region leaf=topology.kubernetes.io/zone"},
  };
}

TEST(PresetsTest, ExpandToLevelsWidestFirst) {
  for (const Case& c : NvidiaCases())
    EXPECT_EQ(Expand(c.preset, Nodes(c.labels)), c.want) << c.name;
  for (const Case& c : CloudCases()) EXPECT_EQ(Expand(c.preset, Nodes(c.labels)), c.want) << c.name;
}

TEST(PresetsTest, OnlySelectedNodesDecideOnTheTiers) {
  std::vector<NodeFacts> nodes = Nodes({{{kV1 + "0", "a"}}, {{kV1 + "1", "b"}}});
  nodes[1].allocatable.clear();
  EXPECT_EQ(Expand("TopographV1", nodes), "leaf=" + kV1 + "0");
}

TEST(PresetsTest, RefuseAnUnknownNameAndLevelsBesideOne) {
  EXPECT_EQ(Expand("Topograph", {}),
            "error: spec.preset: \"Topograph\" is not one of TopographV1, TopographV03, "
            "TopographV01, AWS, GKE, OCI, Nebius, CoreWeave, CoreWeaveBackend, Crusoe, "
            "CloudTPU, Azure, RackZone");
  FabricSpec spec;
  spec.preset = "AWS";
  spec.levels = {{"leaf", "l", Identity::kValue, {}}};
  const Result<Fabric> fabric = Fabric::Build(spec, {}, {});
  ASSERT_FALSE(fabric);
  EXPECT_EQ(fabric.error().message, "spec.preset: give either a preset or levels, not both");
}

TEST(PresetsTest, LimitsOfPowerAreOnThePresetsLevels) {
  const auto nodes = Nodes({{{kV1 + "0", "a"}, {kV1 + "1", "b"}}});
  const auto built = [&](const char* level) {
    FabricSpec spec;
    spec.preset = "TopographV1";
    spec.levels.emplace_back();
    spec.levels[0].name = level;
    spec.levels[0].power_watts = 30'000;
    return Fabric::Build(spec, nodes, {});
  };
  const auto fabric = built("leaf");
  ASSERT_TRUE(fabric) << fabric.error().message;
  EXPECT_EQ(fabric->tiers()[*fabric->FindTier("leaf")].power_watts, 30'000);
  EXPECT_EQ(fabric->tiers()[*fabric->FindTier("spine")].power_watts, std::nullopt);
  EXPECT_EQ(built("rack").error().message,
            "spec.powerLimits[0].level: \"rack\" is not a level of preset TopographV1, which has "
            "spine, leaf");
}

TEST(PresetsTest, BuildExpandsThePreset) {
  FabricSpec spec;
  spec.preset = "TopographV1";
  spec.scale_up = ScaleUpSpec{"rack", "mine", {}, ScaleUpRequires::kNothing};
  const Result<Fabric> fabric = Fabric::Build(
      spec, Nodes({{{kV1 + "0", "a"}, {kV1 + "1", "b"}, {"nvidia.com/gpu.clique", "u.1"}}}), {});
  ASSERT_TRUE(fabric);
  std::vector<std::string> tiers;
  for (const TierInfo& tier : fabric->tiers()) tiers.push_back(tier.name);
  EXPECT_EQ(tiers, (std::vector<std::string>{"outside", "spine", "leaf", "rack", "node"}));
  EXPECT_EQ(fabric->spec().preset, "");
}

std::string Recognise(const std::vector<Labels>& labels) {
  return std::string(RecognisePreset(Nodes(labels)).value_or("none"));
}

TEST(PresetsTest, TheFamilyIsRecognisedByItsNodes) {
  const Labels v1 = {{kV1 + "0", "a"}}, v03 = {{kV03 + "leaf", "a"}}, none;
  const Labels zone = {{"topology.kubernetes.io/zone", "z"}};
  Labels aws = zone, both = v1, azure = zone;
  aws[kAWS + "1"] = "nn-1";
  both.insert(v03.begin(), v03.end());
  azure["kubernetes.azure.com/cluster"] = "c";
  EXPECT_EQ(Recognise({v1}), "TopographV1");
  EXPECT_EQ(Recognise({v1, v03, v03}), "TopographV03");
  EXPECT_EQ(Recognise({both}), "TopographV1") << "the newer family on a tie";
  EXPECT_EQ(Recognise({aws, aws, zone}), "AWS") << "a network family before zones";
  EXPECT_EQ(Recognise({aws, zone, zone}), "RackZone") << "too few nodes of a network family";
  EXPECT_EQ(Recognise({v1, none, none}), "TopographV1") << "incomplete nodes, but nothing else";
  EXPECT_EQ(Recognise({azure}), "Azure");
  EXPECT_EQ(Recognise({azure, zone}), "RackZone");
  EXPECT_EQ(Recognise({none}), "none");
  EXPECT_EQ(Recognise({{{kV1 + "0", "no-imds-data"}}}), "none");
  EXPECT_EQ(Recognise({}), "none");
}

TEST(PresetsTest, NodesWithoutAcceleratorDoNotCount) {
  std::vector<NodeFacts> nodes = Nodes({{{kV1 + "0", "a"}}});
  nodes[0].allocatable = {{"cpu", 8'000}, {"nvidia.com/gpu", 0}};
  EXPECT_EQ(RecognisePreset(nodes), std::nullopt);
}

TEST(PresetsTest, EveryPresetIsRecognisedByItsOwnNarrowestLabel) {
  std::set<std::string_view> names;
  for (const Preset& preset : Presets()) {
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    EXPECT_FALSE(preset.source.empty()) << preset.name;
    FabricSpec spec;
    spec.preset = std::string(preset.name);
    Labels labels;
    const Result<FabricSpec> expanded = ExpandPreset(spec, {});
    ASSERT_TRUE(expanded);
    if (preset.name == "CloudTPU") continue;  // by its chips too: see below
    for (const LevelSpec& level : expanded->levels) labels[level.label_key] = "x";
    if (preset.name == "AWS") labels[kAWS + "1"] = "x";
    if (preset.name == "Azure") labels["kubernetes.azure.com/cluster"] = "x";
    EXPECT_EQ(Recognise({labels}), preset.name);
  }
}

// Two hosts of a slice of eight chips share a node pool; the single host of one of four does not.
TEST(PresetsTest, ATpuSliceOfSeveralHostsIsADomain) {
  const auto recognise = [](const char* topology, std::int64_t chips) {
    NodeFacts node;
    node.name = "t";
    node.labels = {{"cloud.google.com/gke-nodepool", "pool-a"},
                   {"cloud.google.com/gke-tpu-topology", topology},
                   {"topology.kubernetes.io/zone", "z"}};
    node.allocatable = {{"google.com/tpu", chips}};
    return std::string(RecognisePreset({node}).value_or("none"));
  };
  EXPECT_EQ(recognise("2x2x2", 4), "CloudTPU");
  EXPECT_EQ(recognise("4x8", 4), "CloudTPU");
  EXPECT_EQ(recognise("2x2x1", 4), "RackZone");
  EXPECT_EQ(recognise("2x4", 8), "RackZone");
  EXPECT_EQ(recognise("2x", 1), "RackZone");
  EXPECT_EQ(recognise("", 1), "RackZone");
}

NodeFacts TpuHost(const char* name, const char* pool, const char* topology, std::int64_t chips) {
  NodeFacts node;
  node.name = name;
  node.labels = {{"cloud.google.com/gke-nodepool", pool},
                 {"cloud.google.com/gke-tpu-topology", topology}};
  node.allocatable = {{"google.com/tpu", chips}};
  return node;
}

TEST(PresetsTest, ATpuSliceHasAsManyHostsAsItsTopologyNeeds) {
  struct Host {
    const char* topology;
    std::int64_t chips;
    bool several, whole;
  };
  for (const Host& c :
       {Host{"2x2", 4, false, true}, Host{"2x4", 8, false, true}, Host{"2x4", 4, true, false},
        Host{"2x2x1", 4, false, true}, Host{"4x4x4", 4, true, false}, Host{"1x1", 1, false, true},
        Host{"", 4, false, false}, Host{"2xa", 4, false, false}, Host{"2x2", 0, false, false}}) {
    const NodeFacts node = TpuHost("t", "pool-a", c.topology, c.chips);
    EXPECT_EQ(TpuSliceOf(node), c.several ? "pool-a" : "") << c.topology << " " << c.chips;
    EXPECT_EQ(IsWholeTpuSlice(node), c.whole) << c.topology << " " << c.chips;
  }
}

// Nodes of one pool: those of a slice of several hosts have ICI between them, the others have not.
TEST(PresetsTest, TpuSlicesOfOneHostAreDomainsOfTheirOwn) {
  FabricSpec spec;
  spec.preset = "CloudTPU";
  const auto fabric = Fabric::Build(
      spec,
      std::vector<NodeFacts>{TpuHost("a0", "a", "2x2x2", 4), TpuHost("a1", "a", "2x2x2", 4),
                             TpuHost("b0", "b", "2x4", 8), TpuHost("b1", "b", "2x4", 8)},
      {});
  ASSERT_TRUE(fabric);
  const TierDomains& domains = fabric->domains(*fabric->FindTier("leaf"));
  std::vector<std::string> names;
  for (const NodeIndex n : Range<NodeIndex>(fabric->node_count())) {
    names.push_back(domains.names[domains.of_node[n]]);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a", "a", "b/b0", "b/b1"}));
  spec.preset = "";
  spec.levels = {{.name = "pool", .label_key = "cloud.google.com/gke-nodepool", .link = {}}};
  const auto given = Fabric::Build(
      spec, std::vector<NodeFacts>{TpuHost("b0", "b", "2x4", 8), TpuHost("b1", "b", "2x4", 8)}, {});
  ASSERT_TRUE(given);
  EXPECT_EQ(given->domains(*given->FindTier("pool")).names.size(), 1U) << "as a person wrote it";
}

TEST(PresetsTest, CliquesAreAScaleUpNetworkOfTheirOwn) {
  EXPECT_EQ(CliquesOf(Nodes({{}, {{kCliqueLabel, "00000000.0"}}})), std::nullopt);
  const auto found = CliquesOf(Nodes({{}, {{kCliqueLabel, "7a.1"}}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->label_key, "nvidia.com/gpu.clique");
  EXPECT_EQ(found->requires_claim, ScaleUpRequires::kComputeDomain);
}

TEST(PresetsTest, PlaceholdersStandForUnknown) {
  for (const char* value :
       {"", "no-imds-data", "unknown", "None", "N-A", "N/A", "<none>", "Unset",
        "00000000-0000-0000-0000-000000000000.0", "00000000-0000-0000-0000-000000000000.7",
        "00000000-0000-0000-0000-000000000000", "0x0000000000000000",
        "00000000000000000000000000000000"}) {
    EXPECT_TRUE(IsPlaceholder(value)) << value;
  }
  for (const char* value : {"leaf-1", "0", "000", "0.0", "a0000000000000", "rack-00000000",
                            "5d0c1f3e-0a6b-4c58-9b1d-6f2e8a7c4d01.0", "nonesuch"}) {
    EXPECT_FALSE(IsPlaceholder(value)) << value;
  }
}

TEST(PresetsTest, OnlyDomainsOfAScaleUpNetworkAreNotCountedFromZero) {
  EXPECT_TRUE(MeansNoDomain("nvidia.com/gpu.clique", "0.0"));
  EXPECT_TRUE(MeansNoDomain("ds.coreweave.com/nvlink.domain", "0"));
  EXPECT_TRUE(MeansNoDomain("topology.kubernetes.io/zone", "N/A"));
  EXPECT_FALSE(MeansNoDomain("topology.kubernetes.io/zone", "0")) << "a fault domain of AKS";
  EXPECT_FALSE(MeansNoDomain("example.com/chassis", "0"));
  EXPECT_FALSE(MeansNoDomain("nvidia.com/gpu.clique", "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.0"));
  for (const char* value : {"0", "none", "n/a", "00000000-0000-0000-0000-000000000000"}) {
    EXPECT_EQ(Expand("Nebius", Nodes({{{kNebius + "0", value}, {kNebius + "1", "a"}}})),
              "leaf=" + kNebius + "1")
        << value;
  }
}

TEST(PresetsTest, ATierThatOnlyPlaceholdersNameIsNoLevel) {
  EXPECT_EQ(Expand("TopographV1", Nodes({{{kV1 + "0", "a"}, {kV1 + "1", "unknown"}}})),
            "leaf=" + kV1 + "0");
  EXPECT_EQ(Expand("OCI", Nodes({{{kOCI + "rdma.local_block_id", "l"},
                                  {kOCI + "rdma.network_block_id", "n"},
                                  {kOCI + "rdma.hpc_island_id", "no-imds-data"}}})),
            "spine=" + kOCI + "rdma.network_block_id leaf=" + kOCI + "rdma.local_block_id");
}

// NVML's answer on nodes without a fabric manager.
TEST(PresetsTest, AZeroCliqueIsNoNvlinkDomain) {
  SharedList<NodeFacts> nodes;
  for (const char* name : {"a", "b"}) {
    NodeFacts node;
    node.name = name;
    node.labels = {{"nvidia.com/gpu.clique", "00000000-0000-0000-0000-000000000000.0"},
                   {"fabric.topograph.run/tier-0", "leaf"}};
    node.allocatable = {{"nvidia.com/gpu", 8}};
    nodes.push_back(std::move(node));
  }
  FabricSpec spec;
  spec.preset = "TopographV1";
  const Result<FabricSpec> expanded = ExpandPreset(spec, nodes);
  ASSERT_TRUE(expanded);
  EXPECT_FALSE(expanded->scale_up);
}

}  // namespace
}  // namespace weft::fabric
