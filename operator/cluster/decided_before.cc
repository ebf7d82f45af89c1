#include "operator/cluster/decided_before.h"

#include <string>
#include <tuple>
#include <utility>

namespace weft::cluster {

bool DecidedBefore(const WorkloadView& a, const WorkloadView& b) {
  // An object without a creation time does not exist yet, so it is the youngest.
  const auto age = [](const WorkloadView& w) {
    const std::string& created = w.meta->creation_timestamp;
    return std::pair<bool, const std::string&>(created.empty(), created);
  };
  return std::forward_as_tuple(-a.priority, age(a), a.meta->uid, a.key(), a.kind()) <
         std::forward_as_tuple(-b.priority, age(b), b.meta->uid, b.key(), b.kind());
}

}  // namespace weft::cluster
