#include "operator/life/stage.h"

#include <algorithm>
#include <array>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/base/check.h"
#include "operator/life/start_reasons.h"

namespace weft::life {
namespace {

constexpr const char* kPodsReady = "PodsReady";

struct Entry {
  Stage stage;
  std::string_view reason, status;
};
constexpr std::array<Entry, 7> kStages = {{
    {Stage::kCreating, "Creating", "False"},
    {Stage::kBinding, "Binding", "Unknown"},
    {Stage::kSchedulerSilent, "SchedulerSilent", "False"},
    {Stage::kSchedulingGated, "SchedulingGated", "False"},
    {Stage::kStarting, "Starting", "False"},
    {Stage::kAllReady, "AllReady", "True"},
    {Stage::kNotAllReady, "NotAllReady", "False"},
}};

const Entry& EntryOf(Stage stage) {
  const auto found = std::find_if(kStages.begin(), kStages.end(),
                                  [&](const Entry& entry) { return entry.stage == stage; });
  WEFT_CHECK(found != kStages.end());  // kNone is no stage
  return *found;
}

Stage StageOfReason(std::string_view reason) {
  for (const Entry& entry : kStages) {
    if (entry.reason == reason) return entry.stage;
  }
  return IsReasonOfStart(reason) ? Stage::kStarting : Stage::kNone;
}

}  // namespace

Stage StageOf(const JobStatus& status) {
  return Is(status, "Restarting") ? Stage::kNone : StageOfReason(ReasonOf(status, kPodsReady));
}

std::optional<UnixSeconds> SinceStage(const JobStatus& status, Stage stage) {
  const api::Condition* condition = FindCondition(status, kPodsReady);
  if (condition == nullptr) return std::nullopt;
  if (StageOfReason(condition->reason) != stage || condition->status != EntryOf(stage).status) {
    return std::nullopt;
  }
  return ParseTime(condition->last_transition_time);
}

bool MayBeUnbound(Stage stage) {
  return stage == Stage::kCreating || stage == Stage::kBinding ||
         stage == Stage::kSchedulerSilent || stage == Stage::kSchedulingGated;
}

bool WasReady(Stage stage) { return stage == Stage::kAllReady || stage == Stage::kNotAllReady; }

void SetStage(JobStatus& status, Stage stage, std::string message, UnixSeconds now) {
  const Entry& entry = EntryOf(stage);
  api::PutCondition(
      status.conditions,
      {kPodsReady, std::string(entry.status), std::string(entry.reason), std::move(message), ""},
      now);
}

void SetStarting(JobStatus& status, std::string_view reason, std::string message, UnixSeconds now) {
  const std::string known(IsReasonOfStart(reason) ? reason : kContainerWaiting);
  api::PutCondition(status.conditions, {kPodsReady, "False", known, std::move(message), ""}, now);
}

void OpenBinding(JobStatus& status, UnixSeconds now) {
  SetStage(status, Stage::kBinding, "kube-scheduler is binding the pods", now);
  for (api::Condition& condition : status.conditions) {
    if (condition.type == kPodsReady) condition.last_transition_time = FormatTime(now);
  }
}

}  // namespace weft::life
