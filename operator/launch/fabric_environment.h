#pragma once

#include "operator/base/worker_index.h"
#include "operator/fabric/fabric.h"
#include "operator/launch/gang.h"

namespace weft::launch {

// Variables about the network for NCCL, and for RCCL, which reads the same variables:
//   NCCL_CROSS_NIC      0 if the Fabric has rails: each ring stays on one rail
//   NCCL_SOCKET_IFNAME  eth0 if the network is InfiniBand or RoCE, so that only the bootstrap uses
//                       the pod's own interface; not set with hostNetwork
// Fabric.spec.environment then adds variables (NCCL_IB_HCA, NCCL_TOPO_FILE, ...), replaces them, or
// removes them with an empty value. All are defaults: a template's own variable overrides them.
Environment FabricEnvironment(const fabric::FabricSpec& spec, const api::TrainingJob& job);

// The gang's domains at every level of the fabric and of its scale-up network, nested or crossing.
// A level is left out if the fabric lacks a node of the gang.
// `claims_compute_domain`: of its pods; a scale-up network that needs one does not count without.
// Cost  O(workers x levels).
std::vector<GangLevel> GangLevels(const fabric::Fabric& on, bool claims_compute_domain,
                                  const ByWorker<std::string>& nodes);

}  // namespace weft::launch
