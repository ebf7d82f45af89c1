#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "operator/base/text_map.h"

namespace weft::fabric {

// The node label that a kubelet sets to the host's name; if it is absent, the node's name counts.
inline constexpr const char* kHostNameLabel = "kubernetes.io/hostname";
inline constexpr const char* kInstanceType = "node.kubernetes.io/instance-type";

struct Taint {
  std::string key, value, effect;

  friend bool operator==(const Taint&, const Taint&) = default;
};

struct NodeCondition {
  std::string type, status;
  std::int64_t since = 0;  // Unix seconds: when the status last changed; 0 if unknown

  friend bool operator==(const NodeCondition&, const NodeCondition&) = default;
};

// Amounts by resource name. CPU in thousandths of a core, everything else in whole units
// (bytes, devices, pods).
using Resources = std::map<std::string, std::int64_t>;

// How alone a pod may ask for accelerators of a node.
struct DeviceAccess {
  std::string resource;
  // By ResourceClaims: the kubelet reports none, and no extended resource names them. Else by an
  // extended resource: the node has no such devices of a DRA driver, other nodes have.
  bool by_claims = false;

  friend auto operator<=>(const DeviceAccess&, const DeviceAccess&) = default;
};

// The part of a Kubernetes Node that Weft reads.
struct NodeFacts {
  std::string name;
  TextMap labels;
  std::vector<Taint> taints;
  std::vector<NodeCondition> conditions;
  bool unschedulable = false;
  std::vector<DeviceAccess> device_access;  // by resource; others may be asked for in either way
  Resources allocatable;
  Resources capacity;  // of device plug-ins' resources of which not all are allocatable

  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

// Resource names that count as accelerators: those of the device plug-ins of NVIDIA, AMD, Intel,
// Google TPU, AWS Neuron and Habana, and others whose name says so: "nvidia.com/gpu-h100" (a
// renamed resource), "huawei.com/Ascend910", "iluvatar.ai/gpu". Shares of memory or cores
// ("gpumem") are none.
bool IsAcceleratorResource(const std::string& name);
// Also those of `more` (FabricSpec::accelerator_resources).
bool IsAcceleratorResource(const std::string& name, std::span<const std::string> more);

}  // namespace weft::fabric
