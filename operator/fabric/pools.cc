#include "operator/fabric/pools.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "operator/fabric/partition.h"
#include "operator/fabric/presets.h"
#include "operator/fabric/products.h"

namespace weft::fabric {
namespace {

// Labels that name a node's accelerator, those of the vendors' own tools first: GPU feature
// discovery, AMD's labeller, Intel's device plug-in, then CoreWeave, GKE, EKS Auto Mode, Karpenter
// on AWS and Azure, AKS node auto provisioning, cluster-autoscaler on AWS, DigitalOcean, SkyPilot,
// Alibaba ACK. A short name does not tell memory and form apart. AMD's older labeller knows the PCI
// device only. AMD's labeller also writes KEY.VALUE=COUNT, and older ones nothing else.
struct ProductKey {
  std::string_view key;
  bool is_short = false;
  bool counted = false;  // also as KEY.VALUE=COUNT
};
constexpr auto kProductKeys = std::to_array<ProductKey>({
    {"nvidia.com/gpu.product"},
    {"amd.com/gpu.product-name", false, true},
    {"beta.amd.com/gpu.product-name", false, true},
    {"gpu.intel.com/product"},
    {kProductOfDevices},
    {"gpu.nvidia.com/model"},
    {"gpu.nvidia.com/class"},
    {"cloud.google.com/gke-accelerator"},
    {"cloud.google.com/gke-tpu-accelerator"},
    {"eks.amazonaws.com/instance-gpu-name", true},
    {"eks.amazonaws.com/instance-accelerator-name", true},
    {"karpenter.k8s.aws/instance-gpu-name", true},
    {"karpenter.k8s.aws/instance-accelerator-name", true},
    {"karpenter.azure.com/sku-gpu-name", true},
    {"kubernetes.azure.com/sku-gpu-name", true},
    {"k8s.amazonaws.com/accelerator", true},
    {"doks.digitalocean.com/gpu-model", true},
    {"skypilot.co/accelerator", true},
    {"aliyun.accelerator/nvidia_name"},
    {"amd.com/gpu.device-id", true, true},
    {"beta.amd.com/gpu.device-id", true, true},
});

// Names of such labels in any domain: other Karpenter providers and device plug-ins.
constexpr auto kProductNames = std::to_array<std::string_view>(
    {"gpu.product", "gpu.product-name", "gpu-product", "gpu-name", "gpu-model", "gpu.model",
     "instance-gpu-name", "instance-accelerator-name", "sku-gpu-name", "npu.chip.name",
     "accelerator-name"});

struct CapacityLabel {
  std::string_view key, value;
  CapacityType type;
};
constexpr std::array<CapacityLabel, 14> kCapacityLabels = {{
    {"karpenter.sh/capacity-type", "spot", CapacityType::kSpot},
    {"karpenter.sh/capacity-type", "on-demand", CapacityType::kOnDemand},
    {"karpenter.sh/capacity-type", "reserved", CapacityType::kOnDemand},
    {"eks.amazonaws.com/capacityType", "spot", CapacityType::kSpot},
    {"eks.amazonaws.com/capacityType", "on_demand", CapacityType::kOnDemand},
    {"eks.amazonaws.com/capacityType", "capacity_block", CapacityType::kOnDemand},
    {"cloud.google.com/gke-spot", "true", CapacityType::kSpot},
    {"cloud.google.com/gke-preemptible", "true", CapacityType::kSpot},
    {"cloud.google.com/gke-provisioning", "spot", CapacityType::kSpot},
    {"cloud.google.com/gke-provisioning", "preemptible", CapacityType::kSpot},
    {"cloud.google.com/gke-provisioning", "standard", CapacityType::kOnDemand},
    {"kubernetes.azure.com/scalesetpriority", "spot", CapacityType::kSpot},
    {"kubernetes.azure.com/scalesetpriority", "regular", CapacityType::kOnDemand},
    {"oci.oraclecloud.com/oke-is-preemptible", "true", CapacityType::kSpot},
}};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameText(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

// Whether a label of a domain that is not in kProductKeys names the product.
bool NamesProduct(std::string_view key) {
  const std::size_t slash = key.find('/');
  return slash != key.npos && std::find(kProductNames.begin(), kProductNames.end(),
                                        key.substr(slash + 1)) != kProductNames.end();
}

// The places in kProductKeys of labels of other domains and of labels that name no product.
constexpr std::size_t kOtherDomain = kProductKeys.size(), kNoProduct = kProductKeys.size() + 1;

// What one label says of the product.
struct ProductLabel {
  std::size_t at = kNoProduct;  // in kProductKeys
  std::string_view product;
  bool counted = false;
};

// "74a1" of the key "beta.amd.com/gpu.device-id.74a1"; "" of a key of another form.
std::string_view ValueInKey(const ProductKey& one, std::string_view key) {
  if (!one.counted || !key.starts_with(one.key)) return "";
  key.remove_prefix(one.key.size());
  return key.starts_with('.') ? key.substr(1) : "";
}

ProductLabel ReadProduct(std::string_view key, std::string_view value) {
  if (IsPlaceholder(value)) return {};
  for (std::size_t at = 0; at < kProductKeys.size(); ++at) {
    const ProductKey& one = kProductKeys[at];
    if (one.key == key) return {at, value, false};
    const std::string_view in_key = ValueInKey(one, key);
    if (!in_key.empty() && value != "0" && !IsPlaceholder(in_key)) return {at, in_key, true};
  }
  if (NamesProduct(key)) return {kOtherDomain, value, false};
  return {};
}

// "A100-40GB" instead of "a100" on a p4d, "MI300X" instead of its device number 74a1; the same name
// if neither table nor instance type says more.
std::string_view MadeExact(std::string_view product, const NodeFacts& node) {
  if (const auto device = ProductOfInstanceType(product); !device.empty()) return device;
  const std::string_view exact = ProductOfInstanceType(InstanceTypeOf(node));
  return MatchesProduct(product, exact) && !MatchesProduct(exact, product) ? exact : product;
}

// Accelerators by resource, also those that are not allocatable for the moment.
Resources AcceleratorsOf(const FabricSpec& spec, const NodeFacts& node) {
  Resources all;
  for (const Resources* amounts : {&node.allocatable, &node.capacity}) {
    for (const auto& [name, amount] : *amounts) {
      if (amount <= 0 || !IsAcceleratorResource(name, spec.accelerator_resources)) continue;
      std::int64_t& most = all[name];
      most = std::max(most, amount);
    }
  }
  return all;
}

// What the labelled nodes of one instance type say.
struct LabelledType {
  std::string product;  // "" if they differ
  std::set<Resources> accelerators;
};

// A flavor of OpenStack, a type such as n1-standard-8, and "k3s" may have any GPU.
bool NamesMachine(std::string_view instance_type) {
  return !ProductOfInstanceType(instance_type).empty();
}

// Gives nodes without a product the one that the labelled nodes of their instance type share.
void NameUnlabelled(const SharedList<NodeFacts>& nodes, const FabricSpec& spec,
                    ByNode<Pool>& pools) {
  const auto type_of = [&nodes](NodeIndex n) { return InstanceTypeOf(nodes[n.Raw()]); };
  std::map<std::string_view, LabelledType> types;  // of unlabelled nodes
  for (const NodeIndex n : pools.Indices()) {
    const std::string_view type = type_of(n);
    if (NamesMachine(type) && pools[n].product == type) types.try_emplace(type);
  }
  if (types.empty()) return;
  for (const NodeIndex n : pools.Indices()) {
    const auto found = types.find(type_of(n));
    const std::string& product = pools[n].product;
    if (found == types.end() || product.empty() || product == found->first) continue;
    const bool whole = pools[n].partition.empty() && product == WholeProduct(product);
    LabelledType& type = found->second;
    const bool first = type.accelerators.empty();
    type.accelerators.insert(AcceleratorsOf(spec, nodes[n.Raw()]));
    if (first && whole) type.product = product;
    if (!whole || type.product != product) type.product = "";
  }
  for (const NodeIndex n : pools.Indices()) {
    const auto found = types.find(type_of(n));
    if (found == types.end() || pools[n].product != found->first) continue;
    const LabelledType& type = found->second;
    const auto offered = AcceleratorsOf(spec, nodes[n.Raw()]);
    if (!type.product.empty() && type.accelerators.contains(offered)) {
      pools[n].product = type.product;
    }
  }
}

}  // namespace

std::string_view CapacityTypeName(CapacityType type) {
  return type == CapacityType::kSpot ? "Spot" : "OnDemand";
}

PoolLabels ReadPoolLabels(const NodeFacts& node) {
  PoolLabels labels;
  ProductLabel best;
  for (const auto& [key, value] : node.labels) {
    const ProductLabel one = ReadProduct(key, value);
    if (one.at < best.at) {
      best = one;
      labels.product = one.product;
      labels.product_key = key;
    } else if (one.at == best.at && one.counted && best.counted) {
      labels.product = labels.product_key = "";  // GPUs of two products in one node
    }
    for (const CapacityLabel& label : kCapacityLabels) {
      if (label.key != key || !SameText(label.value, value)) continue;
      if (labels.capacity != CapacityType::kSpot) labels.capacity = label.type;
    }
  }
  const bool is_short =
      best.at < kOtherDomain ? kProductKeys[best.at].is_short : best.at == kOtherDomain;
  if (is_short) labels.product = MadeExact(labels.product, node);
  return labels;
}

std::string_view InstanceTypeOf(const NodeFacts& node) {
  const auto type = node.labels.At(kInstanceType);
  return type ? *type : node.labels.At("beta.kubernetes.io/instance-type").value_or("");
}

Pool PoolOf(const NodeFacts& node, const FabricSpec& spec) {
  const PoolLabels labels = ReadPoolLabels(node);
  Pool pool{std::string(labels.product), labels.capacity.value_or(CapacityType::kOnDemand)};
  if (!HasAccelerator(node, spec.accelerator_resources)) return pool;
  if (pool.product.empty()) pool.product = spec.accelerator_model;
  // If nothing else tells two kinds of nodes apart, their instance types do.
  if (pool.product.empty()) pool.product = InstanceTypeOf(node);
  pool.partition = PartitionOf(node).name;
  pool.slice = TpuSliceOf(node);
  return pool;
}

ByNode<Pool> PoolsOf(const SharedList<NodeFacts>& nodes, const FabricSpec& spec) {
  ByNode<Pool> pools;
  for (const NodeFacts& node : nodes) pools.push_back(PoolOf(node, spec));
  NameUnlabelled(nodes, spec, pools);
  return pools;
}

}  // namespace weft::fabric
