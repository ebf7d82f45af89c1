#pragma once

#include <optional>
#include <vector>

#include "operator/api/devices.h"
#include "operator/api/json_reader.h"
#include "operator/rules/pod_requirements.h"

namespace weft::api {

// The requirements of a PodSpec (of a Pod with these labels, or of a TrainingJob's template) on its
// node. The labels themselves are not kept.
//
// Requests  as kube-scheduler counts them: max(containers + sidecars, each init container + the
//           sidecars before it); a missing request is the limit. cpu, memory and huge pages in the
//           pod's own spec.resources replace that sum. Overhead is added, and amounts of 0 are left
//           out.
// ComputeDomain  a PodSpec does not say what a claim is for, so its names are a guess
//           (NamesComputeDomain), until cluster::ResolveChannelClaims looks at what it requests.
// Resize    a container on a node counts with the greatest of its request, what the kubelet has
//           allocated and what it has; a resize that is Infeasible does not count.
// Errors    noted at their fields. Fields that Weft does not use are not checked.
// Source    k8s.io/component-helpers/resource, PodRequests; KEP-753 (sidecars), KEP-2837
//           (pod-level resources), KEP-1287 (in-place resize).
rules::PodRequirements DecodePodSpec(const Field& pod_spec, const TextMap& labels = {});
// The same of a Pod, with its status.
rules::PodRequirements DecodePodOnNode(const Field& pod, const TextMap& labels);

// The entries of a PodSpec's resourceClaims that name a ResourceClaim or a template, with the
// claims that the Pod's status names; of a template the status is absent.
std::vector<ClaimReference> DecodeClaims(const Field& pod_spec, const Field& status);

// Whether the names of an entry of resourceClaims sound like a claim for a ComputeDomain's channel:
// its name, resourceClaimName or resourceClaimTemplateName contains "computedomain",
// "compute-domain", "channel" or "imex" in any case, as in NVIDIA's documents
// ("compute-domain-channel", "imex-channel-0"). A guess, for where neither claim nor template is
// known: NVIDIA's driver makes the template only after the ComputeDomain.
bool NamesComputeDomain(const Field& resource_claim);

// A NodeSelector; nothing if it is absent.
std::optional<std::vector<rules::NodeSelectorTerm>> DecodeNodeSelector(const Field& selector);

// A resource list: cpu in thousandths, everything else in whole units.
fabric::Resources DecodeResources(const Field& list);

}  // namespace weft::api
