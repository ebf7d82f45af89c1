#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "operator/api/placement.h"
#include "operator/api/pod.h"

namespace weft::cluster {

// Whether the pod carries the uid of the Placement, which gave it its node.
bool IsHandedOver(const api::Placement& placement, const api::Pod& pod);

// Whether the pod belongs to the Placement: its podSelector matches the pod's labels and, if the
// operator made the Placement for a gang (kGangLabel), the pod is of that gang, and no other object
// of the API group, kind and name of the Placement's owner controls it. Labels alone do not tell: a
// PyTorchJob and an MPIJob of one name may have pods with the same labels.
bool Selects(const api::Placement& placement, const api::Pod& pod);

// Tells the pods of a gang's present object from those of an earlier object of its name, which may
// wait, run or end for a while beside them:
//   - of two controllers of one API group, kind and name, the present one has the pod that was
//     created last, among pods that are not being deleted;
//   - a worker of a LeaderWorkerSet that is older than its leader is of an earlier group: the
//     controller deletes all workers with the leader, and creates them after it.
// Points into the pods.
class PresentObject {
 public:
  void Add(const api::Pod& pod);
  bool Has(const api::Pod& pod) const;

 private:
  struct Latest {
    bool stays = false;        // not being deleted
    std::string_view created;  // RFC 3339
    std::vector<std::string_view> uids;
  };
  using Name = std::tuple<std::string_view, std::string_view, std::string_view>;

  std::map<Name, Latest> controllers_;  // by API group, kind and name
  std::string_view leader_created_;
};

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
