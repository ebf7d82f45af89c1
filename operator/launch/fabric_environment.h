#pragma once

#include "operator/fabric/fabric.h"
#include "operator/launch/gang.h"

namespace weft::launch {

// Variables about the network for NCCL, and for RCCL, which reads the same names:
//   NCCL_CROSS_NIC      0 where the Fabric has rails: rings stay on theirs
//   NCCL_SOCKET_IFNAME  eth0 where the network is InfiniBand or RoCE, so that only the first
//                       contact goes over the pod's own interface; not with hostNetwork
// Fabric.spec.environment then adds to them, replaces them (NCCL_IB_HCA, NCCL_TOPO_FILE, ...) or,
// with an empty value, takes them away. All are defaults: a template's own variable wins.
Environment FabricEnvironment(const fabric::FabricSpec& spec, const api::TrainingJob& job);

// The gang's domains at every level of the fabric, the scale-up network included, nested or not.
// Nodes that the fabric does not have leave a level out.
// Cost  O(workers x levels).
std::vector<GangLevel> GangLevels(const fabric::Fabric& on, const api::TrainingJob& job,
                                  const std::vector<std::string>& nodes);

}  // namespace weft::launch
