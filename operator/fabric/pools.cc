#include "operator/fabric/pools.h"

#include <algorithm>
#include <array>

namespace weft::fabric {
namespace {

// Labels that name a node's accelerator, those of the vendors' own tools first: GPU feature
// discovery, AMD's labeller, Intel's device plug-in, then CoreWeave, GKE, EKS Auto Mode, Karpenter
// on AWS and Azure, AKS node auto provisioning, cluster-autoscaler on AWS, DigitalOcean, Alibaba
// ACK.
constexpr auto kProductKeys = std::to_array<std::string_view>(
    {"nvidia.com/gpu.product", "amd.com/gpu.product-name", "beta.amd.com/gpu.product-name",
     "gpu.intel.com/product", "gpu.nvidia.com/model", "cloud.google.com/gke-accelerator",
     "cloud.google.com/gke-tpu-accelerator", "eks.amazonaws.com/instance-gpu-name",
     "eks.amazonaws.com/instance-accelerator-name", "karpenter.k8s.aws/instance-gpu-name",
     "karpenter.k8s.aws/instance-accelerator-name", "karpenter.azure.com/sku-gpu-name",
     "kubernetes.azure.com/sku-gpu-name", "k8s.amazonaws.com/accelerator",
     "doks.digitalocean.com/gpu-model", "aliyun.accelerator/nvidia_name"});

struct CapacityLabel {
  std::string_view key, value;
  CapacityType type;
};
constexpr std::array<CapacityLabel, 13> kCapacityLabels = {{
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
}};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameText(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

bool IsWordCharacter(char c) {
  const char lower = Lower(c);
  return (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
}

}  // namespace

std::string_view CapacityTypeName(CapacityType type) {
  return type == CapacityType::kSpot ? "Spot" : "OnDemand";
}

PoolLabels ReadPoolLabels(const NodeFacts& node) {
  PoolLabels labels;
  std::size_t best = kProductKeys.size();
  for (const auto& [key, value] : node.labels) {
    if (value.empty()) continue;
    const auto product = static_cast<std::size_t>(
        std::find(kProductKeys.begin(), kProductKeys.end(), key) - kProductKeys.begin());
    if (product < best) {
      best = product;
      labels.product = value;
      labels.product_key = kProductKeys[product];
    }
    for (const CapacityLabel& label : kCapacityLabels) {
      if (label.key != key || !SameText(label.value, value)) continue;
      if (labels.capacity != CapacityType::kSpot) labels.capacity = label.type;
    }
  }
  return labels;
}

bool MatchesProduct(std::string_view model, std::string_view product) {
  if (model.empty()) return false;
  if (SameText(model, product)) return true;
  for (std::size_t begin = 0; begin < product.size();) {
    std::size_t end = begin;
    while (end < product.size() && IsWordCharacter(product[end])) ++end;
    if (SameText(product.substr(begin, end - begin), model)) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace weft::fabric
