#include "operator/life/kueue_check_crash.h"

#include <algorithm>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/gang_annotations.h"
#include "operator/base/short_text.h"

namespace weft::life {
namespace {

constexpr std::string_view kBetween = "; ";

// The message with this sentence at its end, instead of an earlier one.
std::string EndWith(std::string_view sentence, std::string message) {
  if (const auto before = plan::ReadCrash(message)) {
    message.resize(message.size() - before->sentence.size());
    if (message.ends_with(kBetween)) message.resize(message.size() - kBetween.size());
  }
  if (message.empty()) return std::string(sentence);
  // So that shortening the whole never cuts the sentence.
  message = Shorten(std::move(message), kCheckMessageBytes - kBetween.size() - sentence.size());
  return message.append(kBetween).append(sentence);
}

}  // namespace

std::string AppendCrash(const std::vector<const api::AdmissionCheckState*>& entries,
                        std::string message) {
  for (const api::AdmissionCheckState* entry : entries) {
    if (const auto record = plan::ReadCrash(entry->message)) {
      return EndWith(record->sentence, std::move(message));
    }
  }
  return message;
}

std::vector<api::Condition> CrashConditions(
    const std::vector<const api::AdmissionCheckState*>& entries) {
  for (const api::AdmissionCheckState* entry : entries) {
    const auto record = plan::ReadCrash(entry->message);
    if (!record) continue;
    const bool figures = record->solving == plan::Solving::kFigures;
    return {{std::string(figures ? api::kFiguresFailed : api::kSolverFailed),
             figures || record->count.again ? "True" : "False",
             std::string(record->count.again ? api::kSolverFailed : plan::kSolverCrashed),
             record->sentence, ""}};
  }
  return {};
}

bool RefusedForCrash(const std::vector<const api::AdmissionCheckState*>& entries,
                     std::string_view version) {
  return std::any_of(entries.begin(), entries.end(), [&](const api::AdmissionCheckState* entry) {
    const auto record = plan::ReadCrash(entry->message);
    return record && record->count.again && (version.empty() || record->version == version);
  });
}

AnswerCheck AnswerCrash(const api::Workload& workload,
                        const std::vector<const api::AdmissionCheck*>& checks,
                        const plan::SolverCrash& crash, UnixSeconds now) {
  std::vector<const api::AdmissionCheckState*> entries;
  AnswerCheck answer;
  for (const api::AdmissionCheckState& entry : workload.checks) {
    const bool ours = std::any_of(checks.begin(), checks.end(), [&](const auto* check) {
      return check->meta.key.name == entry.name;
    });
    if (!ours) continue;
    entries.push_back(&entry);
    answer.checks.push_back(entry.name);
    for (const auto& [set, labels] : entry.labels) {
      if (const auto name = labels.At(api::kPlacementLabel)) answer.placements[set] = *name;
    }
  }
  if (entries.empty()) return answer;
  const api::AdmissionCheckState& first = *entries.front();
  const plan::CrashCount count = plan::CountCrash(plan::ReadCrash(first.message), true, crash, now);
  answer.state = first.state;
  answer.message = EndWith(plan::CrashText(crash, count), first.message);
  return answer;
}

}  // namespace weft::life
