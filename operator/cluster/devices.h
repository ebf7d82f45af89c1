#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/api/node.h"
#include "operator/api/pod.h"
#include "operator/base/shared_list.h"
#include "operator/cluster/device_resources.h"
#include "operator/cluster/other_devices.h"

namespace weft::cluster {

// How accelerators that ResourceClaims hold or ask for (DRA) count as a resource such as
// nvidia.com/gpu (device_resources.h):
// - A claim that has devices uses them on their node, whoever may use them too: a partition (MIG)
//   uses its whole GPU, and a GPU that several claims share counts once. It counts as a request of
//   the pod that it is reserved for; without such a pod on the node, as a pod of its own.
// - A claim that kube-scheduler made for an extended resource says what its pod requests anyway.
// - A pod whose claims have no devices yet asks for what its ResourceClaimTemplates and
//   ResourceClaims request: at least one whole GPU for a partition.
// - A node whose kubelet reports none of a resource has the untainted devices of its
// ResourceSlices.
//   Only pods with claims may use them, unless a DeviceClass with an extendedResourceName selects
//   them by driver and type alone. CEL is not evaluated otherwise: kube-scheduler may refuse a
//   node.

// What pods ask for by their claims, from the inputs' templates, claims and DeviceClasses.
// Points into the inputs; one thread at a time.
// Cost  O(n log n) to build for n templates and claims, O(log n) per claim of a pod.
class ClaimDemand {
 public:
  explicit ClaimDemand(const api::Inputs& inputs);
  // Nothing if one of the claims or templates that the pod names is not among the inputs.
  std::optional<fabric::Resources> Of(const api::Pod& pod) const;
  // Of these only what is no accelerator, and is claimed for each pod: by a template that is known.
  fabric::Resources OtherOf(const std::string& space,
                            const std::vector<api::ClaimReference>& claims) const;

 private:
  using Requests = std::map<api::ObjectKey, const std::vector<api::DeviceRequest>*>;

  fabric::Resources AmountsOf(const std::vector<api::DeviceRequest>& requests) const;
  std::int64_t MostOnANode(const std::string& driver) const;
  const fabric::Resources& OtherOf(const api::ObjectKey& claim_template) const;

  const api::Inputs& inputs_;
  const DeviceResources resources_;
  const OtherDevices others_;
  Requests of_templates_, of_claims_;
  std::map<api::ObjectKey, const api::ClaimTemplate*> templates_;
  mutable std::map<api::ObjectKey, fabric::Resources> other_;  // by template, as they are asked for
  mutable std::map<std::string, std::int64_t> most_on_a_node_;  // by driver, as they are asked for
};

// Adds what the claims of jobs and proposals ask for of devices that are no accelerators
// (other_devices.h) to their requests. A second call changes nothing.
void AskForOtherDevices(api::Inputs& inputs);

// Adds what claims hold and ask for to the requests of the inputs' pods, and a pod for each claim
// that holds devices without a pod. Removes the claims: a second call changes nothing.
// Cost  O(pods + slices log claims + claims log claims); nothing without claims.
void CountClaims(api::Inputs& inputs);

// The nodes, with the accelerators that only ResourceSlices tell of and how they are asked for.
// Cost  O(nodes + slices log slices); O(1) per node without slices.
SharedList<api::Node> NodesWithDevices(const api::Inputs& inputs);

}  // namespace weft::cluster
