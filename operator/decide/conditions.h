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

// Of a condition's message at the most: the schemas take four times as much, but each object has
// several, and lists and names beside them.
inline constexpr std::size_t kMessageBytesAtMost = 8'192;

// Puts `condition` in the place of the one of its type, or last. Its transition time is the former
// one's, or `now` where the status is another. What is too long for the schemas is shortened. Where
// others have filled the list, the last of theirs makes room.
void PutCondition(std::vector<api::Condition>& conditions, api::Condition condition,
                  UnixSeconds now);

// Accepted of an object whose spec cannot be read; `why` names the field.
api::Condition Unreadable(const std::string& why);

}  // namespace weft::decide
