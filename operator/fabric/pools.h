#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operator/base/index.h"
#include "operator/fabric/node_facts.h"

namespace weft::fabric {

// A pool is the nodes of one product and one capacity type. A gang uses one pool unless its job
// allows mixing.

using PoolIndex = Index<struct PoolTag>;

// A kSpot node can be taken back by its cloud at any time; a kOnDemand node cannot.
enum class CapacityType : std::uint8_t { kOnDemand, kSpot };
std::string_view CapacityTypeName(CapacityType type);  // "OnDemand", "Spot"

struct Pool {
  std::string product;  // "" if unknown
  CapacityType capacity = CapacityType::kOnDemand;
  std::string slice = {};  // of which the nodes are the hosts (TpuSliceOf); "" if of none

  friend auto operator<=>(const Pool&, const Pool&) = default;
};

// The pool of a node by its labels.
//
//   product   from the first label that the node has of: GPU feature discovery, AMD's labeller,
//             GKE, Karpenter; "" if it has none
//   capacity  from the label of its cloud; nothing without a label; reserved capacity counts as
//             on-demand
//
// Cost    O(labels).
// Source  nvidia.com/gpu.product: NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery, 2026.
//         amd.com/gpu.product-name: ROCm/k8s-device-plugin, cmd/k8s-node-labeller, 2026.
//         karpenter.sh/capacity-type: Karpenter, "Well-known labels", 1.6.
//         eks.amazonaws.com/capacityType: Amazon EKS, "Managed node groups", 2026.
//         cloud.google.com/gke-spot, -preemptible, -provisioning: GKE, "Spot VMs", 2026.
//         kubernetes.azure.com/scalesetpriority: AKS, "Add a spot node pool", 2026.
struct PoolLabels {
  std::string_view product;
  std::string_view product_key;  // of the label
  std::optional<CapacityType> capacity;
};
PoolLabels ReadPoolLabels(const NodeFacts& node);

// Whether `model` is the product's whole name or one of its words, in any case: H100 matches
// NVIDIA-H100-80GB-HBM3, but H200 does not match GH200. Words are runs of letters and digits.
bool MatchesProduct(std::string_view model, std::string_view product);

}  // namespace weft::fabric
