#include "operator/objective/hard_rules.h"

#include <algorithm>

#include "operator/base/check.h"

namespace weft::objective {

using fabric::NodeIndex;

bool MeetsTopology(const Instance& instance, Nodes nodes) {
  const Request& request = instance.request();
  if (request.required && instance.HullOfAll(nodes) < *request.required) return false;
  for (const GroupConstraint& group : request.groups) {
    if (!group.required) continue;
    for (std::size_t s = 0; s < group.sets.size(); ++s) {
      if (instance.HullOf(group.sets.set(s), nodes) < *group.required) return false;
    }
  }
  return true;
}

bool MeetsHardRules(const Instance& instance, Nodes nodes) {
  std::vector<NodeIndex> sorted(nodes.begin(), nodes.end());
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    WEFT_DCHECK(sorted[i] < instance.slots().EndIndex());  // every worker has a node
    if (end - i > instance.slots()[sorted[i]]) return false;
    i = end;
  }
  return MeetsTopology(instance, nodes);
}

}  // namespace weft::objective
