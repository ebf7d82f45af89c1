#include "operator/controllers/learned_controller.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/decode.h"
#include "operator/api/json_text.h"
#include "operator/base/timestamp.h"

namespace weft::controllers {
namespace {

using predict::LearnedScalars;
using Fate = LearnedScalars::Observation::Fate;
using Json = nlohmann::json;

// Warnings that are remembered; more are given again.
constexpr std::size_t kMostReported = 4'096;

// How late a person's edit of the ConfigMap may be noticed: it is read, not watched.
constexpr std::chrono::milliseconds kReadEvery{15'000};
// Between passes. Jobs that change within it are counted in one write.
constexpr std::chrono::milliseconds kCountingPause{1'000};

std::string Number(double value) {
  std::string text = api::JsonText(Json(std::round(value * 1e3) / 1e3));
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string MeasuredText(const LearnedScalars::Observation& one) {
  return "the measured step of " + Number(one.seconds) + " s is " +
         Number(std::round(100 * one.seconds / one.predicted)) + " % of the predicted " +
         Number(one.predicted) + " s";
}

}  // namespace

LearnedController::LearnedController(watch::Store& store, ApiWriter& writer, Recorder& recorder,
                                     Log& log, Options options)
    : store_(store),
      writer_(writer),
      recorder_(recorder),
      log_(log),
      options_(std::move(options)),
      wakeup_(*options_.executor) {}

void LearnedController::Run() {
  if (options_.space.empty()) return;
  run::Instant read_at = options_.executor->Now();
  auto patience = std::chrono::milliseconds::zero();
  while (wakeup_.Await(kCountingPause, patience)) {
    try {
      if (options_.executor->Now() >= read_at) {
        Read();
        read_at = options_.executor->Now() + kReadEvery;
      }
      Count();  // what failed is tried again when the ConfigMap is read the next time
    } catch (const std::exception& bug) {
      log_.Error("counting measured steps failed", {{"error", bug.what()}});
    }
    patience = std::max(
        std::chrono::duration_cast<std::chrono::milliseconds>(read_at - options_.executor->Now()),
        std::chrono::milliseconds::zero());
  }
}

bool LearnedController::Read() {
  const api::ObjectKey key{options_.space, api::kLearnedSteps};
  const auto found = writer_.Get({Kind::kConfigMap, key, "", ""});
  if (found) {
    Take(*found);
  } else if (found.error().kind == ErrorKind::kNotFound) {
    store_.Remove<api::ConfigMap>({key});
  } else {
    Fail("cannot be read", found.error());
    return false;
  }
  reported_.erase("");
  return true;
}

void LearnedController::Take(const Json& object) {
  auto map = api::DecodeConfigMap(object, "API server");
  if (map) return store_.Put(*std::move(map));
  Fail("cannot be read", map.error());
}

bool LearnedController::Count() {
  const auto now = [this] { return FormatTime(options_.now()); };
  const api::Inputs known = store_.SnapshotJobs().inputs;
  LearnedScalars learned = LearnedScalars::From(known, now());
  if (learned.changed().empty()) {
    Report(learned, false);
    return true;
  }
  // Counts again on the ConfigMap as it is now: the store's copy may be old.
  if (!Read()) return false;
  const api::Inputs inputs = store_.SnapshotJobs().inputs;
  learned = LearnedScalars::From(inputs, now());
  const Status written = learned.changed().empty() ? Status() : Write(learned, inputs);
  if (!written) {
    Fail("cannot be written", written.error());
    return false;
  }
  Report(learned, true);
  return true;
}

// A merge patch of the changed entries. Its resourceVersion makes it a compare-and-swap; without a
// ConfigMap a create does, which fails if somebody else was first.
Status LearnedController::Write(const LearnedScalars& learned, const api::Inputs& inputs) {
  Json data = Json::object();
  for (const std::string& key : learned.changed()) {
    const auto entry = learned.entries().find(key);
    data[key] = entry == learned.entries().end() ? Json() : Json(ShowLearnedStep(entry->second));
  }
  const api::ObjectKey key{options_.space, api::kLearnedSteps};
  Result<Json> stored = Json();
  if (inputs.learned_steps) {
    const api::ObjectMeta& meta = inputs.learned_steps->meta;
    stored = writer_.Patch({Kind::kConfigMap, key, meta.uid, meta.resource_version},
                           {{"data", std::move(data)}});
  } else {
    stored = writer_.Create(Kind::kConfigMap,
                            {{"apiVersion", "v1"},
                             {"kind", "ConfigMap"},
                             {"metadata", {{"name", key.name}, {"namespace", key.space}}},
                             {"data", std::move(data)}},
                            false);
  }
  if (!stored) return stored.error();
  Take(*stored);
  return {};
}

void LearnedController::Report(const LearnedScalars& learned, bool written) {
  if (reported_.size() > kMostReported) reported_.clear();
  std::erase_if(reported_, [&](const auto& one) {
    return one.first.starts_with("data/") && !learned.unreadable().contains(one.first.substr(5));
  });
  for (const auto& [key, why] : learned.unreadable()) {
    if (!ShouldReport("data/" + key, why)) continue;
    const auto map = store_.SnapshotJobs().inputs.learned_steps;
    if (!map) continue;
    const std::string note = "data[" + key + "]: " + why + "; no prediction uses this entry";
    recorder_.Record(
        {"ConfigMap", &map->meta, true, predict::kLearnedStepInvalid, "ReadEntry", note, "v1"});
    log_.Warning("learned step cannot be read",
                 {{"configmap", api::Show(map->meta.key)}, {"entry", key}, {"reason", why}});
  }
  for (const LearnedScalars::Observation& one : learned.observations()) {
    if (one.fate != Fate::kCounted || written) ReportObservation(one, learned);
  }
}

void LearnedController::ReportObservation(const LearnedScalars::Observation& one,
                                          const LearnedScalars& learned) {
  const api::ObjectMeta& job = one.job->meta;
  std::string note;
  switch (one.fate) {
    case Fate::kCounted: {
      const predict::LearnedStep& entry = learned.entries().at(one.key);
      note = MeasuredText(one) + "; " + one.key + " is now " + Number(entry.percent) + " % with " +
             std::to_string(entry.observations) +
             (entry.observations == 1 ? " observation" : " observations");
      break;
    }
    case Fate::kInvalid:
      note = one.why + "; no prediction learns from it";
      break;
    case Fate::kImplausible:
      note =
          MeasuredText(one) +
          "; it does not count, because it differs by more than a factor of 5: is it the time of "
          "one optimizer step in seconds?";
      break;
    case Fate::kEntryUnreadable:
      note = MeasuredText(one) + "; it does not count, because the entry " + one.key +
             " of ConfigMap " + options_.space + "/" + api::kLearnedSteps + " cannot be read";
      break;
    case Fate::kFull:
      note = MeasuredText(one) + "; it does not count, because ConfigMap " + options_.space + "/" +
             api::kLearnedSteps + " is full";
      break;
  }
  const bool counted = one.fate == Fate::kCounted;
  if (!ShouldReport("job/" + job.uid, note)) return;
  recorder_.Record({"TrainingJob", &job, !counted, counted ? "StepLearned" : "MeasuredStepInvalid",
                    "CountStep", note});
  log_.Info(counted ? "step learned" : "measured step does not count",
            {{"job", api::Show(job.key)}, {"why", note}});
}

bool LearnedController::ShouldReport(const std::string& key, const std::string& text) {
  std::string& last = reported_[key];
  if (last == text) return false;
  last = text;
  return true;
}

void LearnedController::Fail(const std::string& what, const Error& error) {
  if (error.kind == ErrorKind::kConflict || !ShouldReport("", what + error.message)) return;
  log_.Warning(
      "learned steps: the ConfigMap " + what,
      {{"configmap", options_.space + "/" + api::kLearnedSteps}, {"reason", error.message}});
}

}  // namespace weft::controllers
