#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "operator/api/kinds.h"
#include "operator/decide/workload.h"
#include "operator/outlook/outlook.h"

namespace weft::decide {

// Annotations of a TrainingJob: the measured seconds of its optimizer step, and the release of its
// training software, such as megatron-core-0.15 ("" if absent).
inline constexpr const char* kMeasuredStepAnnotation = "weft.dev/measured-step-seconds";
inline constexpr const char* kReleaseAnnotation = "weft.dev/framework-release";

// Errors  kInvalid if the annotation is not a positive number of seconds; nothing if it is absent.
Result<std::optional<double>> MeasuredStepSeconds(const api::ObjectMeta& meta);

// How measured steps relate to predicted ones.
struct LearnedScalar {
  std::int64_t percent = 100;  // measured / predicted, geometric mean; kLeast to kMost
  std::uint32_t jobs = 0;      // that were measured

  static constexpr std::int64_t kLeast = 50, kMost = 200;
};

// One scalar for each release, accelerator and precision, from the measured jobs among the inputs:
// TrainingJobs with the annotation whose current Placement says what was predicted. If that
// prediction was multiplied by a scalar itself, it is divided by the scalar first.
//
// A measurement does not count if it is not a number, or if it differs from the prediction by more
// than the factor kAbsurd (a typing error, or another unit).
//
// Cost  O(jobs), and O(pods) if any job is measured.
class LearnedScalars {
 public:
  static constexpr double kAbsurd = 5;

  static LearnedScalars From(const api::Inputs& inputs);

  // Absent without a measurement, or without a transformer.
  std::optional<LearnedScalar> Find(const Workload& workload, std::string_view accelerator) const;

 private:
  struct Sum {
    double logs = 0;
    std::uint32_t jobs = 0;
  };
  using Key = std::tuple<std::string, std::string, traffic::Precision>;
  std::map<Key, Sum> sums_;
};

}  // namespace weft::decide
