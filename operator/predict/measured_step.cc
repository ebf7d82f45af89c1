#include "operator/predict/measured_step.h"

#include <nlohmann/json.hpp>
#include <string>

namespace weft::predict {

std::optional<double> StepOfMetric(const api::TrainingJob& job) {
  if (!job.meta.annotations.At(kStepMetricAnnotation) || !job.raw) return std::nullopt;
  const nlohmann::json::json_pointer place(std::string("/status/") + kMeasuredStepField);
  if (!job.raw->contains(place) || !job.raw->at(place).is_number()) return std::nullopt;
  const double seconds = job.raw->at(place).get<double>();
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

}  // namespace weft::predict
