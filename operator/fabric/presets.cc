#include "operator/fabric/presets.h"
#include "operator/fabric/selector.h"

#include <algorithm>
#include <array>
#include <map>

namespace weft::fabric {
namespace {

using Keys = std::vector<std::string>;

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kRegion = "topology.kubernetes.io/region";
constexpr const char* kRack = "topology.kubernetes.io/rack";
// AKS reserves this prefix for the labels it puts on every node.
constexpr std::string_view kAzurePrefix = "kubernetes.azure.com/";
// Far more tiers than any fabric has; limits the search for numbered keys.
constexpr int kMostTiers = 16;

struct Family {
  Preset preset;
  // Label keys, narrowest first.
  Keys (*keys)();
  std::string_view scale_up_key;  // "" if the family has none
  // Every key is a level, even if no node has it, but not if nodes have only placeholders there.
  bool all_tiers = false;
  Identity identity = Identity::kValue;
  bool generic = false;  // labels that say little about the network
};

Keys Numbered(std::string_view prefix, int first, int last) {
  Keys keys;
  const int step = first <= last ? 1 : -1;
  for (int i = first; i != last + step; i += step) {
    keys.push_back(std::string(prefix) + std::to_string(i));
  }
  return keys;
}

// topograph counts from the node: tier-0 is the closest switch.
Keys TopographV1Keys() { return Numbered("fabric.topograph.run/tier-", 0, kMostTiers - 1); }

Keys TopographV03Keys() {
  return {"network.topology.nvidia.com/leaf", "network.topology.nvidia.com/spine",
          "network.topology.nvidia.com/core"};
}

Keys TopographV01Keys() {
  return {"network.topology.nvidia.com/block", "network.topology.nvidia.com/spine",
          "network.topology.nvidia.com/datacenter"};
}

// AWS counts from the top: layer 1 is the broadest; most instances have 3 layers, p6 has 4.
Keys AWSKeys() { return Numbered("topology.k8s.aws/network-node-layer-", 4, 1); }

Keys GKEKeys() {
  return {"cloud.google.com/gce-topology-subblock", "cloud.google.com/gce-topology-block"};
}
constexpr const char* kGKEHost = "cloud.google.com/gce-topology-host";

Keys OCIKeys() {
  return {"oci.oraclecloud.com/rdma.local_block_id", "oci.oraclecloud.com/rdma.network_block_id",
          "oci.oraclecloud.com/rdma.hpc_island_id"};
}

// Nebius counts from the GPU: tier-0 is NVLink, tier-1 the closest switch.
Keys NebiusKeys() { return Numbered("topology.nebius.com/tier-", 1, kMostTiers - 1); }

Keys CoreWeaveKeys() {
  return {"ib.coreweave.cloud/leafgroup", "ib.coreweave.cloud/superpod",
          "ib.coreweave.cloud/fabric"};
}

Keys CoreWeaveBackendKeys() {
  return {"backend.coreweave.cloud/leafgroup", "backend.coreweave.cloud/superpod",
          "backend.coreweave.cloud/fabric"};
}

Keys CrusoeKeys() { return {"crusoe.ai/pod.id", "crusoe.ai/ib.partition.id"}; }

// A slice of several hosts is a node pool of its own; its ICI ends there.
Keys CloudTpuKeys() { return {"cloud.google.com/gke-nodepool"}; }
constexpr const char* kTpuTopology = "cloud.google.com/gke-tpu-topology";
constexpr const char* kTpu = "google.com/tpu";

Keys RackZoneKeys() { return {kRack, kZone}; }

// Azure publishes no label for its InfiniBand tree, only zone and region.
Keys AzureKeys() { return {kZone, kRegion}; }

constexpr auto kFamilies = std::to_array<Family>({
    {{"TopographV1", "NVIDIA topograph 1.x: docs/reference/node-labels.md"},
     TopographV1Keys,
     "accelerator.topograph.run/domain"},
    {{"TopographV03", "NVIDIA topograph 0.3 to 0.5: docs/engines/k8s.md"},
     TopographV03Keys,
     "network.topology.nvidia.com/accelerator"},
    {{"TopographV01", "NVIDIA topograph 0.1: docs/engines/k8s.md"},
     TopographV01Keys,
     "network.topology.nvidia.com/accelerator"},
    {{"AWS", "Amazon EKS user guide, ML workload topology"},
     AWSKeys,
     "topology.k8s.aws/ultraserver-id"},
    {{"GKE", "GoogleCloudPlatform/cluster-toolkit, examples/gke-*/kueue-configuration.yaml"},
     GKEKeys,
     ""},
    {{"OCI", "oracle-quickstart/oci-hpc-oke, docs/oci-hpc-oke-utils.md"},
     OCIKeys,
     "oci.oraclecloud.com/host.gpu_memory_fabric_id",
     true},
    {{"Nebius", "nebius/soperator, internal/consts/label.go"},
     NebiusKeys,
     "topology.nebius.com/tier-0"},
    // Identity Path, because leaf group numbers may repeat across superpods.
    {{"CoreWeave", "docs.coreweave.com, labels ib.coreweave.cloud"},
     CoreWeaveKeys,
     "ds.coreweave.com/nvlink.domain",
     true,
     Identity::kPath},
    {{"CoreWeaveBackend", "docs.coreweave.com, labels backend.coreweave.cloud"},
     CoreWeaveBackendKeys,
     "ds.coreweave.com/nvlink.domain",
     true,
     Identity::kPath},
    {{"Crusoe", "NVIDIA topograph 1.1, provider crusoe"}, CrusoeKeys, ""},
    {{"CloudTPU", "Google Kubernetes Engine, TPU multi-host slices"}, CloudTpuKeys, ""},
    {{"Azure", "Kubernetes well-known labels zone and region"},
     AzureKeys,
     "",
     false,
     Identity::kValue,
     true},
    // Rack labels often repeat in every zone.
    {{"RackZone", "Kubernetes well-known labels; rack as KAI and Grove use it"},
     RackZoneKeys,
     "",
     false,
     Identity::kPath,
     true},
});

constexpr auto kPresets = [] {
  std::array<Preset, kFamilies.size()> presets{};
  for (std::size_t f = 0; f < kFamilies.size(); ++f) presets[f] = kFamilies[f].preset;
  return presets;
}();

// An identifier of zeros, as NVML gives it for a GPU without a fabric: the UUID of a cluster, also
// with the clique behind it ("00000000-0000-0000-0000-000000000000.0"), or a GUID. A short number
// such as "0" or "000" is a name.
bool IsZeroIdentifier(std::string_view value) {
  constexpr std::size_t kLeastZeros = 8;
  value = value.substr(0, value.find('.'));
  if (value.starts_with("0x") || value.starts_with("0X")) value.remove_prefix(2);
  const auto zeros = std::count(value.begin(), value.end(), '0');
  return static_cast<std::size_t>(zeros) >= kLeastZeros &&
         value.find_first_not_of("0-:_") == value.npos;
}

// In any case.
bool MeansUnknown(std::string_view value) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"unknown", "none", "<none>", "null", "nil", "n/a", "[n/a]", "n-a", "n_a", "n.a", "na",
       "undefined", "unset", "unassigned", "not-available", "notavailable", "not-applicable"});
  const auto same = [](char small, char c) {
    return small == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  };
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return std::equal(word.begin(), word.end(), value.begin(), value.end(), same);
  });
}

bool Carries(const NodeFacts& node, const std::string& key) {
  const auto label = node.labels.find(key);
  return label != node.labels.end() && !MeansNoDomain(key, label->second);
}

using Nodes = std::vector<const NodeFacts*>;

bool AnyCarries(const Nodes& nodes, const std::string& key) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const NodeFacts* node) { return Carries(*node, key); });
}

// Whether a node has the label, with any value.
bool AnyHas(const Nodes& nodes, const std::string& key) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const NodeFacts* node) { return node->labels.At(key).has_value(); });
}

// The level's name by its place, narrowest first.
std::string LevelName(std::size_t place) {
  static constexpr std::array<const char*, 6> kNames = {"leaf", "spine",      "core",
                                                        "zone", "datacenter", "region"};
  return place < kNames.size() ? kNames[place] : "tier-" + std::to_string(place);
}

// The family's levels, widest first.
std::vector<LevelSpec> LevelsOf(const Family& family, const Nodes& nodes) {
  Keys keys = family.keys();
  const std::string narrowest = keys.front();
  std::erase_if(keys, [&](const std::string& key) {
    return !AnyCarries(nodes, key) && (!family.all_tiers || AnyHas(nodes, key));
  });
  if (keys.empty()) keys.push_back(narrowest);
  std::vector<LevelSpec> levels;
  for (std::size_t place = keys.size(); place-- > 0;) {
    levels.push_back({.name = LevelName(place),
                      .label_key = keys[place],
                      .identity = family.identity,
                      .link = std::nullopt});
  }
  return levels;
}

// Whether two nodes share a value of the label, so that it says more than the node's name.
bool AnyShares(const Nodes& nodes, const std::string& key) {
  std::map<std::string_view, int> uses;
  for (const NodeFacts* node : nodes) {
    if (Carries(*node, key) && ++uses[*node->labels.At(key)] > 1) return true;
  }
  return false;
}

// The network of NVLink cliques, if any node is in one.
std::optional<ScaleUpSpec> CliquesIf(bool any) {
  if (!any) return std::nullopt;
  return ScaleUpSpec{.name = "nvlink",
                     .label_key = kCliqueLabel,
                     .link = std::nullopt,
                     .requires_claim = ScaleUpRequires::kComputeDomain};
}

std::optional<ScaleUpSpec> ScaleUpOf(const Family& family, const Nodes& nodes) {
  const std::string own(family.scale_up_key);
  if (!own.empty() && AnyCarries(nodes, own)) {
    return ScaleUpSpec{.name = "nvlink",
                       .label_key = own,
                       .link = std::nullopt,
                       .requires_claim = ScaleUpRequires::kNothing};
  }
  return CliquesIf(AnyCarries(nodes, kCliqueLabel));
}

// The chips of the topology "2x2x4": 16; 0 if the text is none.
std::int64_t ChipsOf(std::string_view topology) {
  constexpr std::int64_t kMostChips = 1 << 20;
  std::int64_t chips = 1, side = 0;
  for (const char c : std::string(topology) + "x") {
    if (c >= '0' && c <= '9') {
      side = std::min(side * 10 + (c - '0'), kMostChips);
    } else if (c == 'x' && side > 0) {
      chips = std::min(chips * side, kMostChips);
      side = 0;
    } else {
      return 0;
    }
  }
  return chips;
}

// The hosts of the slice that the node is one of, rounded up; 0 if it has no TPU.
std::int64_t TpuHostsOf(const NodeFacts& node) {
  const auto topology = node.labels.At(kTpuTopology);
  const auto tpus = node.allocatable.find(kTpu), more = node.capacity.find(kTpu);
  std::int64_t own = tpus == node.allocatable.end() ? 0 : tpus->second;
  if (more != node.capacity.end()) own = more->second;
  if (!topology || own <= 0) return 0;
  return (ChipsOf(*topology) + own - 1) / own;
}

// Whether the node has labels of this family.
bool Covers(const Family& family, const NodeFacts& node) {
  if (family.preset.name == "Azure") {
    const auto label = node.labels.lower_bound(std::string(kAzurePrefix));
    const bool azure = label != node.labels.end() && label->first.starts_with(kAzurePrefix);
    return azure && Carries(node, kZone);
  }
  // Not every AWS instance has the fourth layer, but each one with layers has the first.
  if (family.preset.name == "AWS") return Carries(node, "topology.k8s.aws/network-node-layer-1");
  if (family.preset.name == "CloudTPU") return TpuHostsOf(node) > 1;
  if (family.preset.name == "RackZone") return Carries(node, kRack) || Carries(node, kZone);
  return Carries(node, family.keys().front());
}

// Gives each limit to the level of its name.
Status LimitPower(std::span<const LevelSpec> limits, FabricSpec& spec) {
  for (std::size_t l = 0; l < limits.size(); ++l) {
    std::string names;
    bool found = false;
    for (LevelSpec& level : spec.levels) {
      names += (names.empty() ? "" : ", ") + level.name;
      if (level.name != limits[l].name) continue;
      level.power_watts = limits[l].power_watts;
      found = true;
    }
    if (found) continue;
    return Invalid("spec.powerLimits[" + std::to_string(l) + "].level: \"" + limits[l].name +
                   "\" is not a level of preset " + spec.preset + ", which has " +
                   (names.empty() ? "none" : names));
  }
  return {};
}

}  // namespace

std::span<const Preset> Presets() { return kPresets; }

Result<FabricSpec> ExpandPreset(FabricSpec spec, const SharedList<NodeFacts>& nodes) {
  const std::vector<LevelSpec> limits = std::move(spec.levels);
  for (const LevelSpec& level : limits) {
    if (!level.label_key.empty() || !level.power_watts) {
      return Invalid("spec.preset: give either a preset or levels, not both");
    }
  }
  const auto family = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& known) {
    return known.preset.name == spec.preset;
  });
  if (family == kFamilies.end()) {
    std::string names;
    for (const Preset& preset : kPresets) {
      names += (names.empty() ? "" : ", ") + std::string(preset.name);
    }
    return Invalid("spec.preset: \"" + spec.preset + "\" is not one of " + names);
  }
  Nodes selected;
  for (const NodeFacts& node : nodes) {
    if (spec.node_selector ? Matches(*spec.node_selector, node)
                           : HasAccelerator(node, spec.accelerator_resources)) {
      selected.push_back(&node);
    }
  }
  spec.levels = LevelsOf(*family, selected);
  if (family->preset.name == "GKE" && AnyShares(selected, kGKEHost)) {
    spec.levels.push_back({.name = "host",
                           .label_key = kGKEHost,
                           .identity = Identity::kValue,
                           .link = std::nullopt});
  }
  if (family->preset.name == "CloudTPU") {
    for (LevelSpec& level : spec.levels) level.parts_tpu_slices = true;
  }
  if (Status status = LimitPower(limits, spec); !status) return status.error();
  if (!spec.scale_up) spec.scale_up = ScaleUpOf(*family, selected);
  spec.preset.clear();
  return spec;
}

std::optional<std::string_view> RecognisePreset(const SharedList<NodeFacts>& nodes,
                                                std::span<const std::string> more) {
  std::array<std::size_t, kFamilies.size()> covered{};
  std::size_t total = 0;
  for (const NodeFacts& node : nodes) {
    if (!HasAccelerator(node, more)) continue;
    ++total;
    for (std::size_t f = 0; f < kFamilies.size(); ++f) {
      if (Covers(kFamilies[f], node)) ++covered[f];
    }
  }
  // Azure comes before RackZone: both match the zone of Azure's nodes, and Azure's name says more.
  const auto best_of = [&](bool generic) {
    std::size_t best = kFamilies.size();
    for (std::size_t f = 0; f < kFamilies.size(); ++f) {
      if (kFamilies[f].generic != generic || covered[f] == 0) continue;
      if (best == kFamilies.size() || covered[f] > covered[best]) best = f;
    }
    return best;
  };
  const std::size_t network = best_of(false), generic = best_of(true);
  if (network < kFamilies.size() &&
      (2 * covered[network] >= total || generic == kFamilies.size())) {
    return kFamilies[network].preset.name;
  }
  if (generic == kFamilies.size()) return std::nullopt;
  return kFamilies[generic].preset.name;
}

std::optional<ScaleUpSpec> CliquesOf(const SharedList<NodeFacts>& nodes) {
  return CliquesIf(std::any_of(nodes.begin(), nodes.end(),
                               [](const NodeFacts& node) { return Carries(node, kCliqueLabel); }));
}

bool MeansNoDomain(std::string_view key, std::string_view value) {
  if (IsPlaceholder(value)) return true;
  if (value.find('0') == value.npos || value.find_first_not_of("0-.:_") != value.npos) return false;
  return key == kCliqueLabel ||
         std::any_of(kFamilies.begin(), kFamilies.end(),
                     [&](const Family& one) { return one.scale_up_key == key; });
}

bool IsPlaceholder(std::string_view value) {
  // OCI's labeller writes "no-imds-data" if the instance metadata service did not answer.
  return value.empty() || value == "no-imds-data" || MeansUnknown(value) || IsZeroIdentifier(value);
}

std::string_view TpuSliceOf(const NodeFacts& node) {
  const auto pool = node.labels.At(CloudTpuKeys().front());
  return pool && !IsPlaceholder(*pool) && TpuHostsOf(node) > 1 ? *pool : std::string_view();
}

bool IsWholeTpuSlice(const NodeFacts& node) { return TpuHostsOf(node) == 1; }

bool HasAccelerator(const NodeFacts& node, std::span<const std::string> more) {
  const auto counts = [&](const auto& entry) {
    return entry.second > 0 && IsAcceleratorResource(entry.first, more);
  };
  return std::any_of(node.allocatable.begin(), node.allocatable.end(), counts) ||
         std::any_of(node.capacity.begin(), node.capacity.end(), counts);
}

}  // namespace weft::fabric
