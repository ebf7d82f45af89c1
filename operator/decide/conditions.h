#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/meta.h"
#include "operator/base/timestamp.h"

namespace weft::decide {

// The condition of that type; nullptr if there is none.
const api::Condition* FindCondition(const std::vector<api::Condition>& conditions,
                                    std::string_view type);

// Reasons of Placed=False of a TrainingJob in a queue of Kueue that must not get nodes yet.
inline constexpr std::string_view kQueued = "Queued";
inline constexpr std::string_view kQuotaPending = "QuotaPending";
inline constexpr std::string_view kAdmissionPending = "AdmissionPending";
inline constexpr std::string_view kQueueEvicted = "Evicted";
inline constexpr std::string_view kDeactivated = "Deactivated";
inline constexpr std::string_view kAssignmentRefused = "AssignmentRefused";
inline constexpr std::string_view kWorkloadFinished = "WorkloadFinished";

// The condition Placed if it has one of these reasons, else null.
const api::Condition* WaitForKueue(const std::vector<api::Condition>& conditions);

// The longest message of a condition in bytes. The schemas allow four times as much, but an object
// also has other conditions, lists and names.
inline constexpr std::size_t kMessageBytesAtMost = 8'192;

// Replaces the condition of the same type, or appends it. The transition time is kept unless the
// status changes; then it is `now`. Texts that are too long for the schemas are shortened. If other
// writers have filled the list, its last condition is dropped.
void PutCondition(std::vector<api::Condition>& conditions, api::Condition condition,
                  UnixSeconds now);

// The condition Accepted of an object whose spec cannot be read; `why` names the field.
api::Condition Unreadable(const std::string& why);

}  // namespace weft::decide
