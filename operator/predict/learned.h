#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/config_map.h"
#include "operator/api/inputs.h"
#include "operator/api/placement.h"
#include "operator/api/training_job.h"
#include "operator/cluster/note.h"
#include "operator/cluster/workload.h"
#include "operator/outlook/outlook.h"
#include "operator/predict/learned_step.h"

namespace weft::predict {

// Annotations of a TrainingJob: the seconds of its optimizer step as its author measured them, and
// the release of its training software, such as megatron-core-0.15 ("" if absent).
inline constexpr const char* kMeasuredStepAnnotation = "weft.dev/measured-step-seconds";
inline constexpr const char* kReleaseAnnotation = "weft.dev/framework-release";

// The reason of warnings about an entry that cannot be read.
inline constexpr const char* kLearnedStepInvalid = "LearnedStepInvalid";

// Errors  kInvalid if the annotation is not a positive number of seconds; nothing if it is absent.
Result<std::optional<double>> MeasuredStepSeconds(const api::ObjectMeta& meta);
// What counts as measured: of a job that names a metric, what was read of it (measured_step.h);
// without that, what the author says.
Result<std::optional<double>> MeasuredStepSeconds(const api::TrainingJob& job);

// The step that was predicted for a Placement, without the learned scalar of that time.
struct PredictedStep {
  std::string accelerator;
  double seconds = 0;
};
// Absent if the Placement's status has no prediction.
std::optional<PredictedStep> PredictedStepOf(const api::Placement& placement);

// A measurement counts only if it differs from the prediction by at most this factor; otherwise it
// is probably a typing error, or in another unit.
inline constexpr double kMostPlausibleFactor = 5;
bool IsImplausible(double measured_seconds, double predicted_seconds);

// How measured steps relate to predicted ones.
struct LearnedScalar {
  std::string key;             // of the entry
  std::int64_t percent = 100;  // measured / predicted; kLeast to kMost
  std::uint32_t observations = 0;

  static constexpr std::int64_t kLeast = 50, kMost = 200;
};

// One entry for each namespace, release, accelerator and precision: those of the ConfigMap
// weft-learned-steps, and what the measured jobs among the inputs add to them. So a prediction does
// not depend on whether the ConfigMap has been written yet. Anybody may write a measured step, so
// it teaches only its own namespace. An entry without a namespace is for those that have none of
// their own: an administrator makes it, and no job changes it.
//
// A measured job is a TrainingJob with MeasuredStepSeconds whose current Placement says what was
// predicted; if that prediction was multiplied by a scalar itself, it is divided by the scalar
// first. Each attempt counts once, because the entry names the job and what was measured:
//   not named                            counts
//   named with the same seconds          counts already; so does what an earlier attempt left
//                                        behind
//   other seconds, same attempt          replaces what it said before
//   other seconds, another attempt       counts as a further observation
//   same attempt, another release        moves from one entry to the other
//
// An entry that cannot be read is named and used for nothing, and no job changes it.
//
// Cost  O(jobs + entries), and O(pods) if any job is measured.
class LearnedScalars {
 public:
  // Bounds of the ConfigMap, so that it stays below 1 MiB, and the share of a namespace. Where they
  // are reached, the entry goes that was observed longest ago and whose jobs are all gone.
  static constexpr std::size_t kMostCounted = 2'000, kMostEntries = 500;
  static constexpr std::size_t kMostCountedOfSpace = 200, kMostEntriesOfSpace = 20;

  // `time`: when the jobs that are new were observed (RFC 3339).
  static LearnedScalars From(const api::Inputs& inputs, const std::string& time = "");

  // Absent without an entry, or without a transformer.
  std::optional<LearnedScalar> Find(const cluster::WorkloadView& workload,
                                    std::string_view accelerator) const;

  const std::map<std::string, LearnedStep>& entries() const { return entries_; }
  // Entries that cannot be read, and why.
  const std::map<std::string, std::string>& unreadable() const { return unreadable_; }
  // One warning LearnedStepInvalid for each.
  std::vector<cluster::Note> Notes() const;
  // Keys of entries that the measured jobs have added, changed or removed.
  const std::set<std::string>& changed() const { return changed_; }

  // A measured job that was new, and what became of it.
  struct Observation {
    enum class Fate : std::uint8_t { kCounted, kInvalid, kImplausible, kEntryUnreadable, kFull };
    const api::TrainingJob* job = nullptr;
    Fate fate = Fate::kCounted;
    std::string key;  // "" if kInvalid
    double seconds = 0, predicted = 0;
    std::string why;  // kInvalid: the message
  };
  const std::vector<Observation>& observations() const { return observations_; }

 private:
  void ReadEntries(const api::ConfigMap& map);
  void Observe(Observation seen, const api::Placement& placement, const std::string& time);
  bool Knows(const CountedStep& step, const std::string& key) const;
  void Count(const CountedStep& step, const std::string& key);
  void DropGone(LearnedStep& entry) const;
  bool HasRoom(const std::string& job, const std::string& key);
  bool MakeRoom(std::string_view space);
  bool DropOldest(std::string_view space);
  std::size_t CountedOf(std::string_view space) const;

  api::Place place_;  // of the ConfigMap
  std::map<std::string, LearnedStep> entries_;
  std::map<std::string, std::string> unreadable_, where_;  // where_: entry by job
  std::set<std::string> changed_, jobs_;                   // jobs_: uids
  std::vector<Observation> observations_;
};

}  // namespace weft::predict
