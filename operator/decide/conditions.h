#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/meta.h"
#include "operator/base/timestamp.h"

namespace weft::decide {

// The condition of that type; nullptr without it.
const api::Condition* FindCondition(const std::vector<api::Condition>& conditions,
                                    std::string_view type);

// Longest message of a condition in bytes. The schemas allow four times as much, but an object has
// several conditions, and lists and names as well.
inline constexpr std::size_t kMessageBytesAtMost = 8'192;

// Replaces the condition of the same type, or appends it. The transition time is kept unless the
// status changes; then it is `now`. Texts that are too long for the schemas are shortened. If
// others have filled the list, their last condition is dropped.
void PutCondition(std::vector<api::Condition>& conditions, api::Condition condition,
                  UnixSeconds now);

// The condition Accepted of an object whose spec cannot be read; `why` names the field.
api::Condition Unreadable(const std::string& why);

}  // namespace weft::decide
