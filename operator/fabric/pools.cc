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

  bool IsDeviceId() const {
    return at < kOtherDomain && kProductKeys[at].key.ends_with("gpu.device-id");
  }
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

// A flavor of OpenStack, a type such as n1-standard-8, and "k3s" may have any GPU.
bool NamesMachine(std::string_view instance_type) {
  return !ProductOfInstanceType(instance_type).empty();
}

// The label that a node's product is from, or its instance type: nodes that share it and have a
// better label besides may tell the product that this node's label will name later. GPU feature
// discovery labels a node minutes after a cloud has.
struct Hint {
  std::string_view key, product, instance_type;
  std::size_t at = kNoProduct;  // of the key, in kProductKeys
  friend auto operator<=>(const Hint&, const Hint&) = default;
};

// What the nodes say that share a hint and offer the same whole accelerators; those with the best
// label of them.
struct Heard {
  std::size_t at = kNoProduct;  // of that label, in kProductKeys
  std::string product;          // "" if they differ
};

struct NamedPool {
  Pool pool;
  std::string_view key;   // of the label that the product is from; "": of none
  bool borrowed = false;  // the product is that of other nodes
};
using Nodes = std::vector<const NodeFacts*>;

std::optional<Hint> HintOf(const NodeFacts& node, const NamedPool& named) {
  const std::string_view type = InstanceTypeOf(node);
  if (named.key.empty()) {
    const bool by_type = named.pool.product == type && NamesMachine(type);
    return by_type ? std::optional(Hint{"", "", type, kNoProduct}) : std::nullopt;
  }
  const ProductLabel label = ReadProduct(named.key, node.labels.At(named.key).value_or(""));
  if (label.at == 0) return std::nullopt;
  // A short name may be that of several products, which the machine then tells apart.
  const bool is_short = label.at >= kOtherDomain || kProductKeys[label.at].is_short;
  if (is_short && !label.IsDeviceId() && !NamesMachine(type)) return std::nullopt;
  return Hint{named.key, label.product, type, label.at};
}

using ByOffer = std::map<Resources, Heard>;

// Tells those hints of its instance type that the node has besides a better label of the product.
void Tell(const NodeFacts& node, const NamedPool& named, const Resources& offers,
          std::map<Hint, ByOffer>& hints) {
  if (named.key.empty()) return;
  const std::size_t at = ReadProduct(named.key, node.labels.At(named.key).value_or("")).at;
  const auto tell = [&](const Hint& hint) {
    const auto found = hints.find(hint);
    if (found == hints.end() || at >= hint.at) return;
    Heard& heard = found->second[offers];
    if (at < heard.at) heard = {at, named.pool.product};
    if (at == heard.at && heard.product != named.pool.product) heard.product = "";
  };
  const std::string_view type = InstanceTypeOf(node);
  tell({"", "", type, kNoProduct});
  for (const auto& [key, value] : node.labels) {
    const ProductLabel label = ReadProduct(key, value);
    if (label.at < kNoProduct && key != named.key) tell({key, label.product, type, label.at});
  }
}

// Gives nodes without the best label of their kind the product that those with it share.
void NameUnlabelled(const Nodes& nodes, const FabricSpec& spec, std::vector<NamedPool>& pools) {
  std::map<std::string_view, std::map<Hint, ByOffer>> types;
  std::vector<const ByOffer*> of_node(nodes.size(), nullptr);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto hint = HintOf(*nodes[n], pools[n]);
    if (hint) of_node[n] = &types[hint->instance_type][*hint];
  }
  if (types.empty()) return;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Pool& pool = pools[n].pool;
    const auto type = types.find(InstanceTypeOf(*nodes[n]));
    const bool whole = pool.parts.empty() && pool.product == WholeProduct(pool.product);
    if (type == types.end() || !whole) continue;
    Tell(*nodes[n], pools[n], AcceleratorsOf(spec, *nodes[n]), type->second);
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (of_node[n] == nullptr || of_node[n]->empty()) continue;
    const auto heard = of_node[n]->find(AcceleratorsOf(spec, *nodes[n]));
    if (heard == of_node[n]->end() || heard->second.product.empty()) continue;
    pools[n].pool.product = heard->second.product;
    pools[n].borrowed = true;
  }
}

// Drivers before 470 name a GPU without the vendor: while a cluster is upgraded it has both names.
void NameByNewDrivers(std::vector<NamedPool>& pools) {
  constexpr std::string_view kVendor = "NVIDIA-";
  std::set<std::string_view> known;
  const auto of_driver = [](const NamedPool& one) { return one.key == kProductKeys[0].key; };
  for (const NamedPool& one : pools) {
    if (of_driver(one) && one.pool.product.starts_with(kVendor)) known.insert(one.pool.product);
  }
  if (known.empty()) return;
  for (NamedPool& one : pools) {
    if (!of_driver(one) || one.pool.product.starts_with(kVendor)) continue;
    std::string full = std::string(kVendor) + one.pool.product;
    if (known.contains(full)) one.pool.product = std::move(full);
  }
}

// "v100" of accelerator=nvidia-tesla-v100, the label of the examples in Kubernetes' own pages; ""
// of a value that names no GPU. Many sites name anything there, so nothing but known words counts.
std::string PlainProduct(const NodeFacts& node) {
  static constexpr auto kKnown = std::to_array<std::string_view>(
      {"k80",  "m60",   "p4",    "p40",   "p100",  "v100",  "t4",     "a2",
       "a10",  "a10g",  "a16",   "a30",   "a40",   "a100",  "a800",   "l4",
       "l20",  "l40",   "l40s",  "h20",   "h100",  "h200",  "h800",   "b200",
       "b300", "gb200", "gb300", "mi100", "mi210", "mi250", "mi250x", "mi300x"});
  std::string product;
  for (const std::string& word : WordsOf(node.labels.At("accelerator").value_or(""))) {
    const bool known = std::find(kKnown.begin(), kKnown.end(), word) != kKnown.end();
    const bool size = !product.empty() && word.ends_with("gb");
    if (known || size) product += (product.empty() ? "" : "-") + word;
  }
  return product;
}

Pool PoolWith(const PoolLabels& labels, const NodeFacts& node, const FabricSpec& spec) {
  Pool pool{std::string(labels.product), labels.capacity.value_or(CapacityType::kOnDemand)};
  if (!HasAccelerator(node, spec.accelerator_resources)) return pool;
  if (pool.product.empty()) pool.product = spec.accelerator_model;
  if (pool.product.empty() && !NamesMachine(InstanceTypeOf(node))) {
    pool.product = PlainProduct(node);
  }
  // If nothing else tells two kinds of nodes apart, their instance types do.
  if (pool.product.empty()) pool.product = InstanceTypeOf(node);
  for (auto& [resource, part] : PartsOf(node, spec.accelerator_resources)) {
    pool.parts.emplace(resource, std::move(part.name));
  }
  pool.slice = TpuSliceOf(node);
  return pool;
}

std::vector<NamedPool> NamePools(const Nodes& nodes, const FabricSpec& spec) {
  std::vector<NamedPool> pools;
  pools.reserve(nodes.size());
  for (const NodeFacts* node : nodes) {
    const PoolLabels labels = ReadPoolLabels(*node);
    pools.push_back({PoolWith(labels, *node, spec), labels.product_key});
  }
  NameByNewDrivers(pools);
  NameUnlabelled(nodes, spec, pools);
  return pools;
}

}  // namespace

std::string_view CapacityTypeName(CapacityType type) {
  return type == CapacityType::kSpot ? "Spot" : "OnDemand";
}

std::string_view Pool::PartOf(const std::string& resource) const {
  const auto part = parts.find(resource);
  return part == parts.end() ? std::string_view() : part->second;
}

std::string Pool::UnitOf(const std::string& resource) const {
  if (product.find("-MIG-") != product.npos) return product;
  std::string part(PartOf(resource));
  if (part.empty()) part = PartByName(resource);
  if (part.empty()) return product;
  return (product.empty() ? resource : product) + " " + part;
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
  return PoolWith(ReadPoolLabels(node), node, spec);
}

ByNode<Pool> PoolsOf(const SharedList<NodeFacts>& nodes, const FabricSpec& spec) {
  Nodes all;
  for (const NodeFacts& node : nodes) all.push_back(&node);
  ByNode<Pool> pools;
  for (NamedPool& one : NamePools(all, spec)) pools.push_back(std::move(one.pool));
  return pools;
}

std::vector<std::string> LabelledProducts(const std::vector<const NodeFacts*>& nodes,
                                          const FabricSpec& spec) {
  std::vector<std::string> products;
  products.reserve(nodes.size());
  for (NamedPool& one : NamePools(nodes, spec)) {
    const bool named = !one.key.empty() || one.borrowed;
    products.push_back(named ? std::move(one.pool.product) : "");
  }
  return products;
}

}  // namespace weft::fabric
