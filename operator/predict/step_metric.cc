#include "operator/predict/step_metric.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "operator/api/conditions.h"
#include "operator/base/ascii.h"
#include "operator/base/short_text.h"
#include "operator/cluster/placement_pods.h"
#include "operator/predict/learned.h"

namespace weft::predict {
namespace {

constexpr std::size_t kMostNameBytes = 256;
constexpr std::size_t kMostShownBytes = 64;  // of an annotation that is wrong
constexpr double kNewsShare = 0.01;

bool IsMetricName(std::string_view name) {
  if (name.empty() || name.size() > kMostNameBytes || IsDigit(name.front())) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_' || c == ':';
  });
}

// The text inside the quotes of a string of PromQL.
std::string InQuotes(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\\' || c == '"') quoted += '\\';
    if (c == '\n') {
      quoted += "\\n";
    } else {
      quoted += c;
    }
  }
  return quoted;
}

// A regular expression (RE2) that matches the text and nothing else.
std::string Literal(std::string_view text) {
  std::string literal;
  for (const char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) literal += '\\';
    literal += c;
  }
  return literal;
}

// Rounded to four significant digits.
double FourDigits(double value) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                          std::chars_format::scientific, 3);
  double rounded = 0;
  std::from_chars(digits.data(), end, rounded);
  return rounded;
}

// Those without an exponent: 12.41, 0.004123, 1235.
std::string FourDigitsText(double value) {
  std::array<char, 400> text{};  // the largest double has 309 digits
  const auto shown = std::to_chars(text.data(), text.data() + text.size(), FourDigits(value),
                                   std::chars_format::fixed);
  return {text.data(), shown.ptr};
}

StepMetric::State StateOf(const api::TrainingJob& job, const api::Placement* placement,
                          const cluster::PlacementPods& pods, UnixSeconds now) {
  using State = StepMetric::State;
  const api::Condition* ready = api::FindCondition(job.conditions, "PodsReady");
  if (placement == nullptr || pods.AttemptOf(*placement).number != job.attempt) {
    return State::kWaits;
  }
  if (!PredictedStepOf(*placement)) return State::kUnused;
  if (ready == nullptr || ready->status != "True") return State::kWaits;
  const auto since = ParseTime(ready->last_transition_time);
  return since && now - *since >= kSettleSeconds + kWindowSeconds ? State::kRuns : State::kWaits;
}

// "step_seconds{...} of the last 5 minutes".
std::string WindowText(const StepMetric& metric) {
  return SeriesText(metric) + " of the last " + std::to_string(kWindowSeconds / 60) + " minutes";
}

}  // namespace

Result<std::optional<std::string>> StepMetricOf(const api::ObjectMeta& meta) {
  const auto text = meta.annotations.At(kStepMetricAnnotation);
  if (!text) return std::optional<std::string>();
  if (IsMetricName(*text)) return std::optional(std::string(*text));
  return Invalid("metadata.annotations[" + std::string(kStepMetricAnnotation) + "]: \"" +
                 Shorten(std::string(*text), kMostShownBytes) +
                 "\" must be the name of a metric, without labels or functions: at most " +
                 std::to_string(kMostNameBytes) +
                 " characters of [a-zA-Z0-9_:], not beginning with a digit");
}

std::vector<StepMetric> StepMetrics(const api::Inputs& inputs, UnixSeconds now) {
  std::vector<StepMetric> metrics;
  for (const api::TrainingJob& job : inputs.jobs) {
    if (!job.unreadable.empty() || job.meta.deleting || cluster::IsFinished(job)) continue;
    auto name = StepMetricOf(job.meta);
    if (!name) {
      metrics.push_back({&job, StepMetric::State::kInvalid, name.error().message, "", 0});
    } else if (*name) {
      metrics.push_back({&job, StepMetric::State::kWaits, "", **std::move(name), 0});
    }
  }
  if (metrics.empty()) return metrics;
  const cluster::PlacementPods pods(inputs);
  for (StepMetric& metric : metrics) {
    if (metric.state == StepMetric::State::kInvalid) continue;
    const api::Placement* placement = pods.CurrentPlacement(*metric.job);
    metric.state = StateOf(*metric.job, placement, pods, now);
    if (metric.state == StepMetric::State::kRuns)
      metric.predicted = PredictedStepOf(*placement)->seconds;
  }
  std::sort(metrics.begin(), metrics.end(), [](const StepMetric& left, const StepMetric& right) {
    return left.job->meta.key < right.job->meta.key;
  });
  return metrics;
}

std::string SeriesText(const StepMetric& metric) {
  const api::ObjectKey& job = metric.job->meta.key;
  const std::string pods =
      Literal(job.name) + "-" + std::to_string(metric.job->attempt) + "-[0-9]+";
  return metric.metric + "{namespace=\"" + InQuotes(job.space) + "\",pod=~\"" + InQuotes(pods) +
         "\"}";
}

std::string QueryText(const StepMetric& metric) {
  return "avg(avg_over_time(" + SeriesText(metric) + "[" + std::to_string(kWindowSeconds) + "s]))";
}

StepReading ReadStep(const StepMetric& metric, std::optional<double> value) {
  if (!value) {
    return {{},
            kStepMetricMissing,
            "Prometheus has no series " + WindowText(metric) +
                "; does it scrape the workers' pods, with the labels namespace and pod?"};
  }
  if (!std::isfinite(*value) || *value <= 0) {
    return {{},
            kStepMetricInvalid,
            "the mean of " + WindowText(metric) +
                " is not a number of seconds above 0; the measured step is not changed"};
  }
  if (IsImplausible(*value, metric.predicted)) {
    return {{},
            kStepMetricInvalid,
            "the mean of " + WindowText(metric) + " is " + FourDigitsText(*value) +
                ", and the predicted step is " + FourDigitsText(metric.predicted) +
                " s; it does not count, because it differs by more than a factor of 5: is the "
                "metric a gauge of the time of one optimizer step in seconds?"};
  }
  const auto known = StepOfMetric(*metric.job);
  if (known && std::abs(*value - *known) <= kNewsShare * *known) return {};
  return {FourDigits(*value), "", ""};
}

}  // namespace weft::predict
