#include "operator/life/stage.h"

#include <algorithm>
#include <array>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/base/check.h"

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

}  // namespace

Stage StageOf(const JobStatus& status) {
  if (Is(status, "Restarting")) return Stage::kNone;
  const std::string_view reason = ReasonOf(status, kPodsReady);
  for (const Entry& entry : kStages) {
    if (entry.reason == reason) return entry.stage;
  }
  return Stage::kNone;
}

std::optional<UnixSeconds> SinceStage(const JobStatus& status, Stage stage) {
  const api::Condition* condition = FindCondition(status, kPodsReady);
  if (condition == nullptr) return std::nullopt;
  const Entry& entry = EntryOf(stage);
  if (condition->reason != entry.reason || condition->status != entry.status) return std::nullopt;
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

void OpenBinding(JobStatus& status, UnixSeconds now) {
  SetStage(status, Stage::kBinding, "kube-scheduler is binding the pods", now);
  for (api::Condition& condition : status.conditions) {
    if (condition.type == kPodsReady) condition.last_transition_time = FormatTime(now);
  }
}

}  // namespace weft::life
