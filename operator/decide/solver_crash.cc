#include "operator/decide/solver_crash.h"

#include <utility>

#include "operator/api/kueue.h"
#include "operator/decide/conditions.h"

namespace weft::decide {
namespace {

constexpr std::string_view kWho = "weft-operator ";
constexpr std::string_view kOnce = " crashed with signal ";
constexpr std::string_view kTwice = " crashed twice, the last time with signal ";

}  // namespace

std::string CrashText(const SolverCrash& crash, bool again) {
  std::string text(kWho);
  text += crash.version;
  text += again ? kTwice : kOnce;
  text += std::to_string(crash.signal) + (again ? ", while" : " while") + " it chose the nodes";
  if (!again) return text + "; it tries once more";
  return text +
         ". It tries again when the spec changes (suspending and resuming a TrainingJob is such a "
         "change), or when another version of weft-operator leads";
}

std::optional<CrashRecord> ReadCrash(std::string_view text) {
  // The verb that stands last is the last sentence's; the version before it has no space.
  const std::size_t once = text.rfind(kOnce);
  const std::size_t twice = text.rfind(kTwice);
  const bool again =
      twice != std::string_view::npos && (once == std::string_view::npos || twice > once);
  const std::size_t verb = again ? twice : once;
  if (verb == std::string_view::npos) return std::nullopt;
  const std::size_t begin = text.rfind(kWho, verb);
  if (begin == std::string_view::npos || begin + kWho.size() > verb) return std::nullopt;
  const std::string_view version = text.substr(begin + kWho.size(), verb - begin - kWho.size());
  if (version.empty() || version.find(' ') != std::string_view::npos) return std::nullopt;
  return CrashRecord{std::string(version), again, std::string(text.substr(begin))};
}

void RecordCrash(std::vector<api::Condition>& conditions, std::int64_t generation,
                 const SolverCrash& crash, UnixSeconds now) {
  const api::Condition* before = FindCondition(conditions, kSolverFailed);
  const auto record = before ? ReadCrash(before->message) : std::nullopt;
  const bool again =
      record && record->version == crash.version && before->observed_generation == generation;
  PutCondition(conditions,
               {std::string(kSolverFailed), again ? "True" : "False",
                std::string(again ? kSolverFailed : kSolverCrashed), CrashText(crash, again), "",
                generation},
               now);
}

std::optional<std::string> CrashRefusal(const std::vector<api::Condition>& conditions,
                                        std::int64_t generation, std::string_view version) {
  const api::Condition* failed = FindCondition(conditions, kSolverFailed);
  if (failed == nullptr || failed->status != "True") return std::nullopt;
  if (failed->observed_generation != generation) return std::nullopt;
  const auto record = ReadCrash(failed->message);
  if (!record || (!version.empty() && record->version != version)) return std::nullopt;
  return failed->message;
}

std::optional<std::string> CrashRefusalOf(const Cluster& cluster, const Workload& workload,
                                          std::string_view version) {
  const api::Inputs& inputs = *cluster.inputs;
  return CrashRefusal(workload.is_job ? inputs.jobs[workload.index].conditions
                                      : inputs.placements[workload.index].conditions,
                      workload.meta->generation, version);
}

CrashSubject SubjectOf(const Workload& workload) {
  const api::ObjectMeta& meta = *workload.meta;
  if (const api::OwnerReference* owner = api::ControllingWorkload(meta);
      owner != nullptr && !workload.is_job) {
    return {"Workload", {meta.key.space, owner->name}, owner->uid, 0};
  }
  return {workload.kind(), meta.key, meta.uid, meta.generation};
}

}  // namespace weft::decide
