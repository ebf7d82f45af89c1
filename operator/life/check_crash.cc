#include "operator/life/check_crash.h"

#include <algorithm>
#include <utility>

#include "operator/api/gang_annotations.h"
#include "operator/base/short_text.h"
#include "operator/decide/conditions.h"
#include "operator/decide/placement_pods.h"

namespace weft::life {
namespace {

constexpr std::string_view kBetween = "; ";

// The message with this sentence at its end, instead of an earlier one.
std::string EndWith(std::string_view sentence, std::string message) {
  if (const auto before = decide::ReadCrash(message)) {
    message.resize(message.size() - before->sentence.size());
    if (message.ends_with(kBetween)) message.resize(message.size() - kBetween.size());
  }
  if (message.empty()) return std::string(sentence);
  // So that shortening the whole never cuts the sentence.
  message = Shorten(std::move(message), kCheckMessageBytes - kBetween.size() - sentence.size());
  return message.append(kBetween).append(sentence);
}

}  // namespace

std::string KeepCrash(const std::vector<const api::CheckState*>& entries, std::string message) {
  for (const api::CheckState* entry : entries) {
    if (const auto record = decide::ReadCrash(entry->message)) {
      return EndWith(record->sentence, std::move(message));
    }
  }
  return message;
}

bool RefusedForCrash(const std::vector<const api::CheckState*>& entries, std::string_view version) {
  return std::any_of(entries.begin(), entries.end(), [&](const api::CheckState* entry) {
    const auto record = decide::ReadCrash(entry->message);
    return record && record->again && (version.empty() || record->version == version);
  });
}

AnswerCheck AnswerCrash(const api::Workload& workload,
                        const std::vector<const api::AdmissionCheck*>& checks,
                        const decide::SolverCrash& crash) {
  std::vector<const api::CheckState*> entries;
  AnswerCheck answer;
  for (const api::CheckState& entry : workload.checks) {
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
  const api::CheckState& first = *entries.front();
  const auto before = decide::ReadCrash(first.message);
  const bool again = before && before->version == crash.version;
  const bool runs = decide::HasCondition(workload.conditions, "Admitted");
  answer.state = again && !runs ? "Rejected" : first.state;
  answer.message = EndWith(decide::CrashText(crash, again), first.message);
  return answer;
}

}  // namespace weft::life
