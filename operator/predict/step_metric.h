#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/api/training_job.h"
#include "operator/base/result.h"
#include "operator/base/timestamp.h"
#include "operator/predict/measured_step.h"

namespace weft::predict {

// Reasons of warnings: the annotation or the value of the metric is wrong; Prometheus has no such
// metric of the job's pods; the metric is not read.
inline constexpr const char* kStepMetricInvalid = "StepMetricInvalid";
inline constexpr const char* kStepMetricMissing = "StepMetricMissing";
inline constexpr const char* kStepMetricUnused = "StepMetricUnused";
inline constexpr const char* kStepMetricRefused = "StepMetricRefused";

// The first steps of an attempt compile kernels, fill caches and warm up the input, and take
// several times as long: for so long after all workers run nothing is measured.
inline constexpr UnixSeconds kSettleSeconds = 300;
// A measurement is the mean of this time: at least a few samples, because scrapes are rarely more
// than a minute apart.
inline constexpr UnixSeconds kWindowSeconds = 300;

// Errors  kInvalid if the annotation is not the name of a metric of Prometheus; nothing if it is
//         absent.
Result<std::optional<std::string>> StepMetricOf(const api::ObjectMeta& meta);

// A job with the annotation, not finished.
struct StepMetric {
  enum class State : std::uint8_t {
    kInvalid,  // the annotation is wrong
    kUnused,   // nothing is predicted for the job, so nothing can be learned
    kWaits,    // the workers do not run yet, or not for long enough
    kRuns,     // can be measured
  };
  const api::TrainingJob* job = nullptr;
  State state = State::kWaits;
  std::string why;     // kInvalid: the message
  std::string metric;  // "" if kInvalid
  double predicted = 0;
};
// All of them, by namespace and name. A job runs if the condition PodsReady has been true for
// kSettleSeconds + kWindowSeconds with the nodes of its current attempt: the window then lies
// wholly in this attempt.
// Cost  O(jobs), and O(Placements) if any job has the annotation.
std::vector<StepMetric> StepMetrics(const api::Inputs& inputs, UnixSeconds now);

// NAME{namespace="team-a",pod=~"llama-1-[0-9]+"}: the metric of the pods of the job's attempt.
std::string SeriesText(const StepMetric& metric);
// The query in PromQL for the mean of all workers over the window. Nothing but the checked name of
// the metric comes from the annotation, so no other namespace's metrics can be read by it.
std::string QueryText(const StepMetric& metric);

// What follows from the answer to the query.
struct StepReading {
  std::optional<double> seconds;  // what to write to status.measuredStepSeconds
  std::string reason;  // of a warning: kStepMetricInvalid or kStepMetricMissing; "": none
  std::string note;    // of the warning
};
// `value`: of the query; nothing without a series. It is rounded to four digits, and written only
// if it differs from what was read last by more than one percent, since predictions are multiplied
// by whole percents: a measurement that hardly moves is not written again and again.
StepReading ReadStep(const StepMetric& metric, std::optional<double> value);

}  // namespace weft::predict
