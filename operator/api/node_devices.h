#pragma once

#include <cstdint>

#include "operator/base/text_map.h"
#include "operator/fabric/node_facts.h"

namespace weft::api {

// The NVIDIA GPUs of a node whose device plug-in lets pods share each by several units
// (kHamiRegister, kVolcanoRegister); 0 if it has none such.
struct RegisteredGpus {
  std::int64_t gpus = 0, units = 0;
};
RegisteredGpus ReadRegisteredGpus(const TextMap& annotations);

// The devices of which the node has more than it offers (`node.allocatable`): by `capacity` as the
// kubelet reports it, else, where it has forgotten them, by the node's labels and the units that
// are registered. After a restart the kubelet reports no device until the plug-in has registered
// again. The labels' numbers are the most that there can be (but of Intel's GPUs that pods share,
// of which no label tells the units): nothing is placed by them, they tell a job that waits from
// one that never fits.
//
//   count   GPU feature discovery, Intel's and AMD's plug-ins, GKE, Karpenter, EKS Auto Mode
//   units   of each: replicas of GPU feature discovery, GKE's shared clients and partitions; MIG
//           slices by their own labels; NeuronCores and partitions of AMD's GPUs, at most eight a
//           device
//
// Source  kubernetes/kubernetes#125579. NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery (of
//         strategy mixed, gpu.count counts cut and whole GPUs). AWS, "Trainium2 architecture".
fabric::Resources DevicesBeyond(const fabric::Resources& capacity, const fabric::NodeFacts& node,
                                std::int64_t registered_units);

}  // namespace weft::api
