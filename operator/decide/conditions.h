#pragma once

#include <string_view>
#include <vector>

#include "operator/api/meta.h"
#include "operator/base/timestamp.h"

namespace weft::decide {

// The condition of that type; nullptr without it.
const api::Condition* FindCondition(const std::vector<api::Condition>& conditions,
                                    std::string_view type);

// Puts `condition` in the place of the one of its type, or last. Its transition time is the former
// one's, or `now` where the status is another.
void PutCondition(std::vector<api::Condition>& conditions, api::Condition condition,
                  UnixSeconds now);

}  // namespace weft::decide
