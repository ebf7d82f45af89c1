#pragma once

#include <optional>

#include "operator/api/training_job.h"

namespace weft::predict {

// Annotation of a TrainingJob: a metric of its pods whose value is the seconds of one optimizer
// step. The operator reads it from Prometheus and writes it to status.measuredStepSeconds.
inline constexpr const char* kStepMetricAnnotation = "weft.dev/step-metric";
inline constexpr const char* kMeasuredStepField = "measuredStepSeconds";

// What was read last of the job's metric; nothing if the job does not name one any more.
std::optional<double> StepOfMetric(const api::TrainingJob& job);

}  // namespace weft::predict
