#include "operator/decide/learned.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "operator/decide/placement_pods.h"

namespace weft::decide {
namespace {

using Json = nlohmann::json;

constexpr double kMillis = 1e3;
constexpr double kWhole = 100;  // percent

std::string ReleaseOf(const api::ObjectMeta& meta) {
  return std::string(meta.annotations.At(kReleaseAnnotation).value_or(""));
}

// What was predicted for a Placement, without the scalar of that time.
struct Told {
  std::string accelerator;
  double seconds = 0;
};

std::optional<Told> ToldOf(const api::Placement* placement) {
  if (placement == nullptr || !placement->raw) return std::nullopt;
  const Json::json_pointer place("/status/outlook");
  if (!placement->raw->contains(place)) return std::nullopt;
  const Json& outlook = placement->raw->at(place);
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
  return Told{accelerator->get<std::string>(),
              milliseconds / kMillis * (percent > 0 ? kWhole / percent : 1)};
}

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

LearnedScalars LearnedScalars::From(const api::Inputs& inputs) {
  LearnedScalars learned;
  std::vector<std::pair<const api::TrainingJob*, double>> measured;
  for (const api::TrainingJob& job : inputs.jobs) {
    if (!job.model || !job.model->transformer) continue;
    const auto seconds = MeasuredStepSeconds(job.meta);
    if (seconds && *seconds) measured.emplace_back(&job, **seconds);
  }
  if (measured.empty()) return learned;
  const PlacementPods pods(inputs);
  for (const auto& [job, seconds] : measured) {
    const auto told = ToldOf(pods.CurrentPlacement(*job));
    if (!told) continue;
    const double ratio = seconds / told->seconds;
    if (ratio > kAbsurd || ratio < 1 / kAbsurd) continue;
    Sum& sum =
        learned
            .sums_[{ReleaseOf(job->meta), told->accelerator, job->model->transformer->precision}];
    sum.logs += std::log(ratio);
    ++sum.jobs;
  }
  return learned;
}

std::optional<LearnedScalar> LearnedScalars::Find(const Workload& workload,
                                                  std::string_view accelerator) const {
  const auto& model = *workload.model;
  if (sums_.empty() || !model || !model->transformer) return std::nullopt;
  const auto found = sums_.find(
      {ReleaseOf(*workload.meta), std::string(accelerator), model->transformer->precision});
  if (found == sums_.end()) return std::nullopt;
  const auto percent = std::llround(kWhole * std::exp(found->second.logs / found->second.jobs));
  return LearnedScalar{
      std::clamp<std::int64_t>(percent, LearnedScalar::kLeast, LearnedScalar::kMost),
      found->second.jobs};
}

}  // namespace weft::decide
