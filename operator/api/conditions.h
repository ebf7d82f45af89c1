#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/meta.h"
#include "operator/base/timestamp.h"

namespace weft::api {

// The condition of that type; nullptr if there is none.
const Condition* FindCondition(const std::vector<Condition>& conditions, std::string_view type);

// Condition of a TrainingJob or Placement: the solver crashed on it. Also a reason of Placed=False.
inline constexpr std::string_view kSolverFailed = "SolverFailed";
// Condition of a TrainingJob or Placement: the solver crashed on figures, which are left out from
// then on.
inline constexpr std::string_view kFiguresFailed = "FiguresFailed";
// Condition of a job that is predicted not to fit in the memory of its GPUs: False, DoesNotFit. A
// job without the condition is predicted to fit, or nothing is predicted for it.
inline constexpr const char* kMemoryFits = "MemoryFits";
// Condition of a job whose kubelets start the worker's container again by themselves, while its
// peers wait for it.
inline constexpr const char* kRestartsAlone = "RestartsAlone";
// Of the Placement of a finished job: its ComputeDomain and its Secret are deleted.
inline constexpr const char* kFilesDeleted = "FilesDeleted";

// Reasons of Placed=False of a TrainingJob in a queue of Kueue that must not get nodes yet.
inline constexpr std::string_view kQueued = "Queued";
inline constexpr std::string_view kQuotaPending = "QuotaPending";
inline constexpr std::string_view kAdmissionPending = "AdmissionPending";
inline constexpr std::string_view kQueueEvicted = "Evicted";
inline constexpr std::string_view kDeactivated = "Deactivated";
inline constexpr std::string_view kAssignmentRefused = "AssignmentRefused";
inline constexpr std::string_view kWorkloadFinished = "WorkloadFinished";

// The condition Placed if it has one of these reasons, else null.
const Condition* WaitForKueue(const std::vector<Condition>& conditions);

// The longest message of a condition in bytes. The schemas allow four times as much, but an object
// also has other conditions, lists and names.
inline constexpr std::size_t kMessageBytesAtMost = 8'192;

// Replaces the condition of the same type, or appends it. The transition time is kept unless the
// status changes; then it is `now`. Texts that are too long for the schemas are shortened. If other
// writers have filled the list, its last condition is dropped.
void PutCondition(std::vector<Condition>& conditions, Condition condition, UnixSeconds now);

// The condition Accepted of an object whose spec cannot be read; `why` names the field.
Condition Unreadable(const std::string& why);

}  // namespace weft::api
