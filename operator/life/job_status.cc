#include "operator/life/job_status.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/encode.h"
#include "operator/api/json_member.h"
#include "operator/api/names.h"
#include "operator/base/quantity.h"
#include "operator/base/short_text.h"
#include "operator/cluster/text.h"
#include "operator/life/ledger.h"
#include "operator/life/start_reasons.h"

namespace weft::life {
namespace {

using OrderedJson = nlohmann::ordered_json;

void Put(OrderedJson& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

OrderedJson EncodeSummary(const api::Summary& summary) {
  OrderedJson json = OrderedJson::object();
  Put(json, "workers", summary.workers);
  Put(json, "spans", summary.spans);
  Put(json, "crossNode", summary.cross_node);
  Put(json, "ofBest", summary.of_best);
  Put(json, "step", summary.step);
  Put(json, "tokensPerSecond", summary.tokens_per_second);
  Put(json, "memory", summary.memory);
  return json;
}

OrderedJson EncodeFailure(const api::LastFailure& failure) {
  OrderedJson json = {{"attempt", failure.attempt}, {"worker", failure.worker}};
  Put(json, "node", failure.node);
  Put(json, "reason", failure.reason);
  if (failure.exit_code != 0) json["exitCode"] = failure.exit_code;
  Put(json, "time", failure.time);
  Put(json, "message", failure.message);
  Put(json, "cause", failure.cause);
  if (failure.counted) json["counted"] = true;
  return json;
}

template <typename T>
void PutNumber(OrderedJson& object, const char* key, const std::optional<T>& number) {
  if (number) object[key] = *number;
}

OrderedJson EncodeCheckpoint(const api::CheckpointRecord& checkpoint) {
  OrderedJson json = OrderedJson::object();
  if (checkpoint.last_time) json["lastTime"] = FormatTime(*checkpoint.last_time);
  PutNumber(json, "lastStep", checkpoint.last_step);
  if (checkpoint.last_time) json["source"] = "Annotation";
  PutNumber(json, "advisedIntervalSeconds", checkpoint.advised_interval_seconds);
  return json;
}

OrderedJson EncodeRecovery(const api::Recovery& recovery) {
  OrderedJson json = OrderedJson::object();
  Put(json, "cause", recovery.cause);
  json["worker"] = recovery.worker;
  Put(json, "node", recovery.node);
  json["since"] = FormatTime(recovery.since);
  json["phase"] = api::NameOf(api::kRecoveryPhaseNames, recovery.phase);
  return json;
}

OrderedJson EncodeLost(const api::LostTime& lost) {
  OrderedJson json = {{"workSeconds", lost.work},     {"downSeconds", lost.down()},
                      {"detectSeconds", lost.detect}, {"replaceSeconds", lost.replace},
                      {"startSeconds", lost.start},   {"loadSeconds", lost.load},
                      {"keptSeconds", lost.kept},     {"failures", lost.failures},
                      {"exact", lost.exact}};
  PutNumber(json, "effectivePercent", EffectivePercent(lost));
  if (lost.until) json["countedUntil"] = FormatTime(*lost.until);
  return json;
}

std::optional<std::int64_t> NumberAt(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

// "870 ms", "5.4 s", "123 s".
std::string StepText(std::int64_t milliseconds) {
  constexpr std::int64_t kSecond = 1000, kTenth = 100, kTenthsBelow = 100 * kSecond;
  if (milliseconds < kSecond) return std::to_string(milliseconds) + " ms";
  const std::string seconds = std::to_string(milliseconds / kSecond);
  if (milliseconds >= kTenthsBelow) return seconds + " s";
  return seconds + "." + std::to_string(milliseconds % kSecond / kTenth) + " s";
}

// The columns of a Placement's status.outlook.
void SummariseOutlook(const nlohmann::json& status, api::Summary& summary) {
  const auto outlook = status.find("outlook");
  if (outlook == status.end() || !outlook->is_object()) return;
  if (const auto step = NumberAt(*outlook, "stepMilliseconds")) summary.step = StepText(*step);
  if (const auto tokens = NumberAt(*outlook, "tokensPerSecond")) {
    summary.tokens_per_second = std::to_string(*tokens);
  }
  const auto memory = outlook->find("memoryPerGPU");
  if (memory == outlook->end() || !memory->is_object()) return;
  if (const auto percent = NumberAt(*memory, "percent")) {
    summary.memory = std::to_string(*percent) + " %";
  }
}

}  // namespace

JobStatus StatusOf(const api::TrainingJob& job) {
  return {job.attempt, job.placement_name, job.conditions, job.record};
}

const api::Condition* FindCondition(const JobStatus& status, std::string_view type) {
  return api::FindCondition(status.conditions, type);
}

bool Is(const JobStatus& status, std::string_view type) {
  const api::Condition* condition = FindCondition(status, type);
  return condition != nullptr && condition->status == "True";
}

std::string_view ReasonOf(const JobStatus& status, std::string_view type) {
  const api::Condition* condition = FindCondition(status, type);
  return condition == nullptr ? std::string_view() : condition->reason;
}

std::optional<UnixSeconds> Since(const JobStatus& status, std::string_view type) {
  const api::Condition* condition = FindCondition(status, type);
  return condition == nullptr ? std::nullopt : ParseTime(condition->last_transition_time);
}

void SetCondition(JobStatus& status, const ConditionChange& change, UnixSeconds now) {
  api::PutCondition(status.conditions,
                    {std::string(change.type), change.is ? "True" : "False",
                     std::string(change.reason), change.message, ""},
                    now);
}

std::string PhaseOf(const JobStatus& status) {
  for (const char* last : {"Complete", "Failed", "Suspended", "Restarting"}) {
    if (Is(status, last)) return last;
  }
  const api::Condition* accepted = FindCondition(status, "Accepted");
  if (accepted != nullptr && accepted->status == "False") return "Invalid";
  if (Is(status, "PodsReady")) return "Running";
  return Is(status, "Placed") ? "Placed" : "Pending";
}

std::string_view WhyOf(const JobStatus& status) {
  const std::string phase = PhaseOf(status);
  if (phase == "Invalid") return ReasonOf(status, "Accepted");
  if (phase == "Complete" || phase == "Suspended") return "";
  if (phase == "Failed") return ReasonOf(status, phase);
  const std::string_view placed = ReasonOf(status, "Placed");
  if (!Is(status, "Placed") || placed == kNotWritten) return placed;
  const std::string_view start = ReasonOf(status, "PodsReady");
  return phase == "Placed" && IsReasonOfStart(start) ? start : "";
}

OrderedJson EncodeJobStatus(const JobStatus& status) {
  const api::JobRecord& record = status.record;
  OrderedJson json = {{"observedGeneration", record.observed_generation},
                      {"phase", PhaseOf(status)}};
  Put(json, "reason", std::string(WhyOf(status)));
  if (OrderedJson summary = EncodeSummary(record.summary); !summary.empty()) {
    json["summary"] = std::move(summary);
  }
  json["attempt"] = status.attempt;
  json["restarts"] = record.restarts;
  Put(json, "placementName", status.placement_name);
  json["workers"] = {{"desired", record.workers.desired},
                     {"ready", record.workers.ready},
                     {"succeeded", record.workers.succeeded},
                     {"failed", record.workers.failed}};
  Put(json, "completedIndexes", record.completed_indexes);
  Put(json, "startTime", record.start_time);
  Put(json, "completionTime", record.completion_time);
  if (record.suspended_seconds > 0) json["suspendedSeconds"] = record.suspended_seconds;
  if (record.last_failure) json["lastFailure"] = EncodeFailure(*record.last_failure);
  if (!record.excluded.empty()) json["excludedNodes"] = api::EncodeExcludedNodes(record.excluded);
  if (record.retry.times > 0) json["retry"] = api::EncodeRetry(record.retry);
  if (record.checkpoint) json["checkpoint"] = EncodeCheckpoint(*record.checkpoint);
  if (record.recovery) json["recovery"] = EncodeRecovery(*record.recovery);
  if (record.lost) json["lost"] = EncodeLost(*record.lost);
  json["conditions"] = api::EncodeConditions(status.conditions);
  return json;
}

void Summarise(const api::Placement& placement, api::Summary& summary) {
  api::Summary fresh;
  fresh.workers = std::move(summary.workers);
  summary = std::move(fresh);
  if (!placement.raw) return;
  const auto status = placement.raw->find("status");
  if (status == placement.raw->end() || !status->is_object()) return;
  if (const auto spans = status->find("spans"); spans != status->end() && spans->is_array()) {
    for (const auto& span : *spans) {
      if (!span.is_object()) continue;
      const auto domains = span.find("domains");
      if (domains == span.end() || !domains->is_number_integer()) continue;
      if (!summary.spans.empty()) summary.spans += ", ";
      summary.spans +=
          std::to_string(domains->get<std::int64_t>()) + " " + api::TextAt(span, "level");
    }
    summary.spans = Shorten(std::move(summary.spans), api::kTextAtMost);
  }
  SummariseOutlook(*status, summary);
  const auto traffic = status->find("traffic");
  if (traffic == status->end() || !traffic->is_object()) return;
  summary.cross_node = api::TextAt(*traffic, "crossNodeBytes");
  const auto crossing = ParseQuantity(summary.cross_node);
  const auto best = ParseQuantity(api::TextAt(*traffic, "bestCrossNodeBytes"));
  if (!crossing || !best) return;
  if (*best > 0) {
    summary.of_best = std::to_string(PercentOf(*crossing, *best)) + " %";
  } else if (*crossing == 0) {
    summary.of_best = "100 %";
  }
}

}  // namespace weft::life
