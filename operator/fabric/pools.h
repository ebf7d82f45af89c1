#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/index.h"
#include "operator/base/shared_list.h"
#include "operator/fabric/node_facts.h"
#include "operator/fabric/spec.h"
#include "operator/fabric/tiers.h"

namespace weft::fabric {

// A pool is the nodes of one product and one capacity type, whose accelerators are parts of the
// same size. A gang uses pools that are alike in what it asks for, unless its job allows mixing.

using PoolIndex = Index<struct PoolTag>;

// A kSpot node can be taken back by its cloud at any time; a kOnDemand node cannot.
enum class CapacityType : std::uint8_t { kOnDemand, kSpot };
std::string_view CapacityTypeName(CapacityType type);  // "OnDemand", "Spot"

// Set on a node whose accelerators ResourceSlices name (attribute productName).
inline constexpr const char* kProductOfDevices = "weft.dev/product";

struct Pool {
  std::string product;  // "" if unknown
  CapacityType capacity = CapacityType::kOnDemand;
  // Partition::name by resource (PartsOf); those of whole accelerators are left out.
  std::map<std::string, std::string> parts = {};
  std::string slice = {};  // of which the nodes are the hosts (TpuSliceOf); "" if of none

  // What one unit of the resource is a part of; "" if it is a whole accelerator.
  std::string_view PartOf(const std::string& resource) const;
  // The product and that part, also one that the resource is named after: "H100 time slice 1/4",
  // "H100 MIG 1g.10gb" of nvidia.com/mig-1g.10gb.
  std::string UnitOf(const std::string& resource) const;

  friend auto operator<=>(const Pool&, const Pool&) = default;
};

// What a node's labels say of its pool.
//
//   product   from the first label that the node has of: the vendors' own tools, the clouds, any
//             label with such a name of another domain (".../gpu.product"); "" if it has none. A
//             label whose value means "unknown" says nothing. A cloud's short name is made exact by
//             the instance type: "a100" is A100-40GB on p4d, A100-80GB on p4de
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

// The label node.kubernetes.io/instance-type, or its name before Kubernetes 1.17; "" without them.
std::string_view InstanceTypeOf(const NodeFacts& node);

// The pool of a node of this Fabric. If no label names its accelerators, their product is
// FabricSpec::accelerator_model, else the instance type.
Pool PoolOf(const NodeFacts& node, const FabricSpec& spec);

// The pools of all nodes of this Fabric: by PoolOf, but a node without the best label of its kind,
// as a new one that its cloud has labelled and GPU feature discovery has not yet, has the product
// that all nodes with it share. Its kind: the same label that its product is from now, and the same
// instance type; without any label, the same instance type. A node keeps its own name if none of
// those offers as many whole accelerators, or if they differ; or if its label is a short name
// or none and its type names no machine (n1-standard-8, a flavor of OpenStack, "k3s"), which may
// have any accelerator.
//
// Cost    O(nodes x labels x log(nodes)).
ByNode<Pool> PoolsOf(const SharedList<NodeFacts>& nodes, const FabricSpec& spec);

// The products of these pools that labels name, the node's own or those of its kind; else "". By
// node.
std::vector<std::string> LabelledProducts(const std::vector<const NodeFacts*>& nodes,
                                          const FabricSpec& spec);

}  // namespace weft::fabric
