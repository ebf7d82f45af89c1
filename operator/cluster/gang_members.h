#pragma once

#include <vector>

#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/cluster/present_object.h"

namespace weft::cluster {

// Whether the pod carries the uid of the Placement, which gave it its node.
bool IsHandedOver(const api::Placement& placement, const api::Pod& pod);

// Whether the pod belongs to the Placement: its podSelector matches the pod's labels and, if the
// operator made the Placement for a gang (kGangLabel), the pod is of that gang, and no other object
// of the API group, kind and name of the Placement's owner controls it. Labels alone do not tell: a
// PyTorchJob and an MPIJob of one name may have pods with the same labels.
bool Selects(const api::Placement& placement, const api::Pod& pod);

// Removes the pods of earlier objects from those that the Placement selects. Pods that were handed
// over to it stay. `pod_of(element)` is the pod to which an element of `pods` points.
template <typename Pods, typename PodOf>
void KeepPresent(const api::Placement& placement, Pods& pods, PodOf pod_of) {
  PresentObject present;
  for (const auto& one : pods) present.Add(pod_of(one));
  std::erase_if(pods, [&](const auto& one) {
    return !IsHandedOver(placement, pod_of(one)) && !present.Has(pod_of(one));
  });
}

}  // namespace weft::cluster
