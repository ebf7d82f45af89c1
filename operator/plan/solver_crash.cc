#include "operator/plan/solver_crash.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/kueue.h"

namespace weft::plan {
namespace {

constexpr std::string_view kWho = "weft-operator ";
constexpr std::string_view kOnce = " crashed with signal ";
constexpr std::string_view kTwice = " crashed twice, the last time with signal ";
constexpr std::string_view kOnFigures = " while it computed figures";
constexpr std::string_view kCount = " (crash ";
constexpr std::string_view kTime = " of this object, at ";

constexpr std::int64_t kFirstPauseSeconds = 60;
constexpr std::int64_t kMostPauseSeconds = 3'600;
// Beyond these, pauses are the same. A count in a status may be anything.
constexpr std::int64_t kMostCrashes = 1'000'000;

// The count in a sentence; that of an unreadable text if there is none.
CrashCount ReadCount(std::string_view sentence, bool again) {
  CrashCount count{again, again ? 2 : 1, 0};
  const std::size_t begin = sentence.find(kCount), time = sentence.find(kTime);
  if (begin == std::string_view::npos || time == std::string_view::npos) return count;
  if (time < begin + kCount.size()) return count;
  std::int64_t crashes = 0;
  const char* end = sentence.data() + time;
  const auto read = std::from_chars(sentence.data() + begin + kCount.size(), end, crashes);
  if (read.ec == std::errc() && read.ptr == end) {
    count.crashes = std::clamp(crashes, count.crashes, kMostCrashes);
  }
  const std::string_view rest = sentence.substr(time + kTime.size());
  count.last = ParseTime(rest.substr(0, rest.find(')'))).value_or(0);
  return count;
}

const std::vector<api::Condition>& ConditionsOf(const cluster::Cluster& cluster,
                                                const cluster::WorkloadView& workload) {
  const api::Inputs& inputs = *cluster.inputs;
  return workload.is_job ? inputs.jobs[workload.index].conditions
                         : inputs.placements[workload.index].conditions;
}

std::optional<CrashRecord> RecordIn(const api::Condition* condition, std::string_view version) {
  if (condition == nullptr) return std::nullopt;
  auto record = ReadCrash(condition->message);
  if (record && !version.empty() && record->version != version) return std::nullopt;
  return record;
}

}  // namespace

std::int64_t PauseAfter(std::int64_t crashes) {
  std::int64_t pause = crashes < 3 ? 0 : kFirstPauseSeconds;
  for (std::int64_t i = 3; i < crashes && pause < kMostPauseSeconds; ++i) pause *= 2;
  return std::min(pause, kMostPauseSeconds);
}

std::string CrashText(const SolverCrash& crash, const CrashCount& count) {
  std::string text(kWho);
  text += crash.version;
  text += count.again ? kTwice : kOnce;
  text += std::to_string(crash.signal) + (count.again ? "," : "");
  if (crash.solving == Solving::kFigures && !count.again) {
    text += kOnFigures;
    return text +
           " of this object; it leaves them out until the spec changes or another version of "
           "weft-operator leads";
  }
  text += " while it chose the nodes";
  text += kCount;
  text += std::to_string(count.crashes);
  text += kTime;
  text += FormatTime(count.last) + ")";
  const std::int64_t pause = PauseAfter(count.crashes);
  const std::string then = pause == 0 ? "" : ", not before " + FormatTime(count.last + pause);
  if (!count.again) return text + "; it tries once more" + then;
  return text +
         ". It tries again when the spec changes (suspending and resuming a TrainingJob is such a "
         "change)" +
         then + ", or when another version of weft-operator leads";
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
  const std::string_view sentence = text.substr(begin);
  const bool figures = sentence.find(kOnFigures) != std::string_view::npos;
  return CrashRecord{std::string(version), figures ? Solving::kFigures : Solving::kNodes,
                     ReadCount(sentence, again), std::string(sentence)};
}

CrashCount CountCrash(const std::optional<CrashRecord>& before, bool same_spec,
                      const SolverCrash& crash, UnixSeconds now) {
  if (!before || before->version != crash.version) return {false, 1, now};
  return {same_spec, std::min(before->count.crashes + 1, kMostCrashes), now};
}

void RecordCrash(std::vector<api::Condition>& conditions, std::int64_t generation,
                 const SolverCrash& crash, UnixSeconds now) {
  if (crash.solving == Solving::kFigures) {
    api::PutCondition(conditions,
                      {std::string(api::kFiguresFailed), "True", std::string(kSolverCrashed),
                       CrashText(crash, {false, 1, now}), "", generation},
                      now);
    return;
  }
  const api::Condition* before = api::FindCondition(conditions, api::kSolverFailed);
  const CrashCount count =
      CountCrash(before ? ReadCrash(before->message) : std::nullopt,
                 before && before->observed_generation == generation, crash, now);
  api::PutCondition(conditions,
                    {std::string(api::kSolverFailed), count.again ? "True" : "False",
                     std::string(count.again ? api::kSolverFailed : kSolverCrashed),
                     CrashText(crash, count), "", generation},
                    now);
}

std::optional<Refusal> RefusalFor(const std::vector<api::Condition>& conditions,
                                  std::int64_t generation, const CrashQuestion& asks) {
  const api::Condition* failed = api::FindCondition(conditions, api::kSolverFailed);
  const auto record = RecordIn(failed, asks.version);
  if (!record) return std::nullopt;
  const bool same_spec = failed->observed_generation == generation;
  if (same_spec && failed->status == "True")
    return Refusal{std::string(api::kSolverFailed), failed->message, false};
  if (same_spec && asks.wary) return Refusal{std::string(kSolverCrashed), failed->message};
  if (asks.now == 0) return std::nullopt;
  // A clock that was ahead must not make the pause longer.
  const std::int64_t pause = PauseAfter(record->count.crashes);
  const std::int64_t left = std::min(record->count.last + pause - asks.now, pause);
  if (left <= 0) return std::nullopt;
  return Refusal{std::string(kSolverCrashed), failed->message, true, left};
}

std::optional<Refusal> RefusalFor(const cluster::Cluster& cluster,
                                  const cluster::WorkloadView& workload,
                                  const CrashQuestion& asks) {
  return RefusalFor(ConditionsOf(cluster, workload), workload.meta->generation, asks);
}

bool CrashedOnFigures(const cluster::Cluster& cluster, const cluster::WorkloadView& workload,
                      std::string_view version) {
  const api::Condition* failed =
      api::FindCondition(ConditionsOf(cluster, workload), api::kFiguresFailed);
  return RecordIn(failed, version) && failed->status == "True" &&
         failed->observed_generation == workload.meta->generation;
}

CrashSubject SubjectOf(const cluster::WorkloadView& workload, Solving solving) {
  const api::ObjectMeta& meta = *workload.meta;
  // Figures of a Placement that exists need no other object.
  const bool itself = workload.is_job || (solving == Solving::kFigures && !meta.uid.empty());
  if (const api::OwnerReference* owner = api::ControllingWorkload(meta);
      owner != nullptr && !itself) {
    return {"Workload", {meta.key.space, owner->name}, owner->uid, 0};
  }
  return {workload.kind(), meta.key, meta.uid, meta.generation};
}

}  // namespace weft::plan
