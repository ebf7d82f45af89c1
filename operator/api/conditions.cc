#include "operator/api/conditions.h"

#include <algorithm>
#include <array>
#include <utility>

#include "operator/api/names.h"
#include "operator/base/short_text.h"

namespace weft::api {
namespace {

constexpr std::array<std::string_view, 13> kOurs = {
    "Accepted",    "Placed",       "PodsReady",   "PlacementVerified", "Suspended",
    "Restarting",  "Complete",     "Failed",      "Verified",          kMemoryFits,
    kSolverFailed, kFiguresFailed, kRestartsAlone};

void MakeRoom(std::vector<Condition>& conditions) {
  if (conditions.size() < kConditionsAtMost) return;
  const auto last = std::find_if(conditions.rbegin(), conditions.rend(), [](const auto& c) {
    return std::find(kOurs.begin(), kOurs.end(), c.type) == kOurs.end();
  });
  if (last != conditions.rend()) conditions.erase(std::next(last).base());
}

}  // namespace

const Condition* FindCondition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const Condition& c) { return c.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

const Condition* WaitForKueue(const std::vector<Condition>& conditions) {
  constexpr std::array kOfKueue = {kQueued,          kQuotaPending, kAdmissionPending,
                                   kQueueEvicted,    kDeactivated,  kAssignmentRefused,
                                   kWorkloadFinished};
  const Condition* placed = FindCondition(conditions, "Placed");
  if (placed == nullptr || placed->status == "True") return nullptr;
  const bool waits = std::find(kOfKueue.begin(), kOfKueue.end(), placed->reason) != kOfKueue.end();
  return waits ? placed : nullptr;
}

void PutCondition(std::vector<Condition>& conditions, Condition condition, UnixSeconds now) {
  auto found = std::find_if(conditions.begin(), conditions.end(),
                            [&](const Condition& c) { return c.type == condition.type; });
  if (found == conditions.end()) {
    MakeRoom(conditions);
    found = conditions.insert(conditions.end(), Condition{});
  }
  condition.reason = Shorten(std::move(condition.reason), kReasonAtMost);
  condition.message = Shorten(std::move(condition.message), kMessageBytesAtMost);
  condition.last_transition_time =
      found->status == condition.status ? found->last_transition_time : FormatTime(now);
  *found = std::move(condition);
}

Condition Unreadable(const std::string& why) { return {"Accepted", "False", "Invalid", why, ""}; }

}  // namespace weft::api
