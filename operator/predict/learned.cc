#include "operator/predict/learned.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/cluster/placement_pods.h"
#include "operator/predict/measured_step.h"

namespace weft::predict {
namespace {

using Json = nlohmann::json;
using Fate = LearnedScalars::Observation::Fate;

constexpr double kMillis = 1e3;
constexpr double kWhole = 100;  // percent
constexpr const char* kNoUid = "-";

std::string ReleaseOf(const api::ObjectMeta& meta) {
  return std::string(meta.annotations.At(kReleaseAnnotation).value_or(""));
}

std::string UidOf(const api::TrainingJob& job) {
  return job.meta.uid.empty() ? kNoUid : job.meta.uid;
}

// The job of a line. A job without a uid is known by its Placement.
const std::string& JobOf(const CountedStep& line) {
  return line.job_uid == kNoUid ? line.placement : line.job_uid;
}

std::size_t IndexOf(const LearnedStep& entry, const std::string& job) {
  const auto line = std::find_if(entry.counted.begin(), entry.counted.end(),
                                 [&](const CountedStep& one) { return JobOf(one) == job; });
  return static_cast<std::size_t>(line - entry.counted.begin());
}

struct Measured {
  const api::TrainingJob* job = nullptr;
  double seconds = 0;
};

}  // namespace

Result<std::optional<double>> MeasuredStepSeconds(const api::ObjectMeta& meta) {
  const auto text = meta.annotations.At(kMeasuredStepAnnotation);
  if (!text) return std::optional<double>();
  double seconds = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  const bool number = error == std::errc() && end == text->data() + text->size();
  if (number && seconds > 0 && std::isfinite(seconds)) return std::optional(seconds);
  return Invalid("metadata.annotations[" + std::string(kMeasuredStepAnnotation) + "]: \"" +
                 std::string(*text) + "\" must be a number of seconds above 0");
}

Result<std::optional<double>> MeasuredStepSeconds(const api::TrainingJob& job) {
  if (const auto seconds = StepOfMetric(job)) return seconds;
  return MeasuredStepSeconds(job.meta);
}

std::optional<PredictedStep> PredictedStepOf(const api::Placement& placement) {
  if (!placement.raw) return std::nullopt;
  const Json::json_pointer place("/status/outlook");
  if (!placement.raw->contains(place)) return std::nullopt;
  const Json& outlook = placement.raw->at(place);
  if (!outlook.is_object()) return std::nullopt;
  const auto number = [&](const char* name) {
    const auto found = outlook.find(name);
    return found != outlook.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  const auto accelerator = outlook.find("accelerator");
  const double milliseconds = number("stepMilliseconds");
  if (accelerator == outlook.end() || !accelerator->is_string() || milliseconds <= 0) {
    return std::nullopt;
  }
  const double percent = number("learnedPercent");
  return PredictedStep{accelerator->get<std::string>(),
                       milliseconds / kMillis * (percent > 0 ? kWhole / percent : 1)};
}

bool IsImplausible(double measured_seconds, double predicted_seconds) {
  return measured_seconds > kMostPlausibleFactor * predicted_seconds ||
         predicted_seconds > kMostPlausibleFactor * measured_seconds;
}

void LearnedScalars::ReadEntries(const api::ConfigMap& map) {
  place_ = map.place;
  for (const auto& [key, text] : map.data) {
    auto entry = ParseLearnedStep(text);
    if (!entry) {
      unreadable_[key] = entry.error().message;
      continue;
    }
    for (const CountedStep& line : entry->counted) where_[JobOf(line)] = key;
    entries_[key] = *std::move(entry);
  }
}

std::vector<cluster::Note> LearnedScalars::Notes() const {
  std::vector<cluster::Note> notes;
  for (const auto& [key, why] : unreadable_) {
    notes.push_back({cluster::Severity::kWarning, kLearnedStepInvalid,
                     place_ + ": data[" + key + "]: " + why + "; no prediction uses this entry"});
  }
  return notes;
}

LearnedScalars LearnedScalars::From(const api::Inputs& inputs, const std::string& time) {
  LearnedScalars learned;
  if (inputs.learned_steps) learned.ReadEntries(*inputs.learned_steps);
  std::vector<Measured> measured;
  for (const api::TrainingJob& job : inputs.jobs) {
    if (!job.model || !job.model->transformer) continue;
    const auto seconds = MeasuredStepSeconds(job);
    if (!seconds) {
      learned.observations_.push_back({&job, Fate::kInvalid, "", 0, 0, seconds.error().message});
    } else if (*seconds) {
      measured.push_back({&job, **seconds});
    }
  }
  if (measured.empty()) return learned;
  for (const api::TrainingJob& job : inputs.jobs) learned.jobs_.insert(UidOf(job));
  const cluster::PlacementPods pods(inputs);
  for (const auto& [job, seconds] : measured) {
    const api::Placement* placement = pods.CurrentPlacement(*job);
    const auto told = placement == nullptr ? std::nullopt : PredictedStepOf(*placement);
    if (!told) continue;
    const std::string key = LearnedStepKeyIn(job->meta.key.space,
                                             LearnedStepKey(ReleaseOf(job->meta), told->accelerator,
                                                            job->model->transformer->precision));
    learned.Observe({job, Fate::kCounted, key, seconds, told->seconds, ""}, *placement, time);
  }
  for (const std::string& key : learned.changed_) {
    const auto entry = learned.entries_.find(key);
    if (entry != learned.entries_.end()) learned.DropGone(entry->second);
  }
  return learned;
}

void LearnedScalars::Observe(Observation seen, const api::Placement& placement,
                             const std::string& time) {
  const CountedStep step{api::Show(placement.meta.key), UidOf(*seen.job), seen.seconds,
                         kWhole * seen.seconds / seen.predicted};
  if (IsImplausible(seen.seconds, seen.predicted)) {
    seen.fate = Fate::kImplausible;
  } else if (unreadable_.contains(seen.key)) {
    seen.fate = Fate::kEntryUnreadable;
  } else if (Knows(step, seen.key)) {
    return;
  } else if (!HasRoom(JobOf(step), seen.key)) {
    seen.fate = Fate::kFull;
  } else {
    Count(step, seen.key);
    entries_.at(seen.key).last_observed = time;
  }
  observations_.push_back(std::move(seen));
}

bool LearnedScalars::Knows(const CountedStep& step, const std::string& key) const {
  const auto where = where_.find(JobOf(step));
  if (where == where_.end()) return false;
  const LearnedStep& entry = entries_.at(where->second);
  const CountedStep& line = entry.counted[IndexOf(entry, JobOf(step))];
  return line.seconds == step.seconds && (where->second == key || line.placement != step.placement);
}

void LearnedScalars::Count(const CountedStep& step, const std::string& key) {
  changed_.insert(key);
  const auto where = where_.find(JobOf(step));
  if (where != where_.end()) {
    LearnedStep& entry = entries_.at(where->second);
    const std::size_t line = IndexOf(entry, JobOf(step));
    const bool same_attempt = entry.counted[line].placement == step.placement;
    if (same_attempt && where->second == key) return Replace(line, step, entry);
    changed_.insert(where->second);
    if (!same_attempt) {  // what the earlier attempt has taught stays
      entry.counted.erase(entry.counted.begin() + static_cast<std::ptrdiff_t>(line));
    } else if (entry.observations > 1) {
      Remove(line, entry);
    } else {
      entries_.erase(where->second);
    }
  }
  where_[JobOf(step)] = key;
  const auto [entry, added] = entries_.try_emplace(key);
  if (added) {
    entry->second = {step.percent, 1, "", {step}};
  } else {
    Add(step, entry->second);
  }
}

void LearnedScalars::DropGone(LearnedStep& entry) const {
  std::erase_if(entry.counted,
                [&](const CountedStep& line) { return !jobs_.contains(line.job_uid); });
}

// Drops the entry that was observed longest ago and has no job any more: of the namespace, or of
// any if "". A job that exists would only count again.
bool LearnedScalars::DropOldest(std::string_view space) {
  auto oldest = entries_.end();
  for (auto one = entries_.begin(); one != entries_.end(); ++one) {
    const std::string_view of = SpaceOfLearnedStep(one->first);
    if (of.empty() || (!space.empty() && of != space)) continue;
    const auto& counted = one->second.counted;
    if (std::any_of(counted.begin(), counted.end(),
                    [&](const CountedStep& line) { return jobs_.contains(line.job_uid); })) {
      continue;
    }
    const bool older =
        oldest == entries_.end() || one->second.last_observed < oldest->second.last_observed;
    if (older) oldest = one;
  }
  if (oldest == entries_.end()) return false;
  for (const CountedStep& line : oldest->second.counted) where_.erase(JobOf(line));
  changed_.insert(oldest->first);
  entries_.erase(oldest);
  return true;
}

// For one more entry of the namespace.
bool LearnedScalars::MakeRoom(std::string_view space) {
  const auto own = std::count_if(entries_.begin(), entries_.end(), [&](const auto& one) {
    return SpaceOfLearnedStep(one.first) == space;
  });
  if (static_cast<std::size_t>(own) >= kMostEntriesOfSpace) return DropOldest(space);
  return entries_.size() + unreadable_.size() < kMostEntries || DropOldest("");
}

std::size_t LearnedScalars::CountedOf(std::string_view space) const {
  return static_cast<std::size_t>(std::count_if(where_.begin(), where_.end(), [&](const auto& one) {
    return SpaceOfLearnedStep(one.second) == space;
  }));
}

bool LearnedScalars::HasRoom(const std::string& job, const std::string& key) {
  const std::string_view space = SpaceOfLearnedStep(key);
  if (!entries_.contains(key) && !MakeRoom(space)) return false;
  const auto has_room = [&] {
    return where_.size() < kMostCounted && CountedOf(space) < kMostCountedOfSpace;
  };
  if (where_.contains(job) || has_room()) return true;
  where_.clear();
  for (auto& [name, entry] : entries_) {
    const std::size_t lines = entry.counted.size();
    DropGone(entry);
    if (entry.counted.size() < lines) changed_.insert(name);
    for (const CountedStep& line : entry.counted) where_[JobOf(line)] = name;
  }
  return has_room();
}

std::optional<LearnedScalar> LearnedScalars::Find(const cluster::WorkloadView& workload,
                                                  std::string_view accelerator) const {
  const auto& model = *workload.model;
  if (entries_.empty() || !model || !model->transformer) return std::nullopt;
  const std::string all =
      LearnedStepKey(ReleaseOf(*workload.meta), accelerator, model->transformer->precision);
  auto found = entries_.find(LearnedStepKeyIn(workload.meta->key.space, all));
  if (found == entries_.end()) found = entries_.find(all);
  if (found == entries_.end()) return std::nullopt;
  const auto percent = std::clamp<std::int64_t>(std::llround(found->second.percent),
                                                LearnedScalar::kLeast, LearnedScalar::kMost);
  return LearnedScalar{found->first, percent, found->second.observations};
}

}  // namespace weft::predict
