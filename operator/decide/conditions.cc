#include "operator/decide/conditions.h"

#include <algorithm>
#include <utility>

namespace weft::decide {

const api::Condition* FindCondition(const std::vector<api::Condition>& conditions,
                                    std::string_view type) {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const api::Condition& c) { return c.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

void PutCondition(std::vector<api::Condition>& conditions, api::Condition condition,
                  UnixSeconds now) {
  auto found = std::find_if(conditions.begin(), conditions.end(),
                            [&](const api::Condition& c) { return c.type == condition.type; });
  if (found == conditions.end()) found = conditions.insert(found, api::Condition{});
  condition.last_transition_time =
      found->status == condition.status ? found->last_transition_time : FormatTime(now);
  *found = std::move(condition);
}

}  // namespace weft::decide
