#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/launch/gang.h"

namespace weft::launch {

// A ComputeDomain lets the GPUs of several nodes share memory over NVLink: NVIDIA's DRA driver runs
// an IMEX daemon on each of its nodes, and gives each pod with a claim for it a channel. The driver
// makes the ResourceClaimTemplate that the pods name.
// Source  NVIDIA k8s-dra-driver-gpu, api/nvidia.com/resource/v1beta1/computedomain.go, 2026.

// Whether the job has topology.computeDomain: Auto, and two of the gang's nodes share a domain of
// the scale-up network.
bool NeedsComputeDomain(const Gang& gang);

// The ComputeDomain of the attempt, and its ResourceClaimTemplate, have the name of its ConfigMap.
// Nothing owns it: the operator deletes it when the attempt's pods have ended (life::IsOfJob says
// why). Its numNodes is the number of nodes.
// Precondition  NeedsComputeDomain(gang).
nlohmann::json MakeComputeDomain(const Gang& gang);

// Adds the pod's claim for a channel, and the claim of each container that has accelerators (else
// of the first container). Changes nothing if the gang needs no ComputeDomain.
void AddComputeDomainClaim(const Gang& gang, nlohmann::json& spec);

}  // namespace weft::launch
