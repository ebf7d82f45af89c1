#pragma once

#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "operator/api/pod.h"

namespace weft::cluster {

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

}  // namespace weft::cluster
