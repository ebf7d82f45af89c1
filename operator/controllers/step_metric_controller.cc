#include "operator/controllers/step_metric_controller.h"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "operator/api/json_member.h"
#include "operator/predict/learned.h"
#include "operator/promql/prometheus.h"

namespace weft::controllers {
namespace {

// Pause after a write or query that failed, or that found no series.
constexpr UnixSeconds kMetricRetrySeconds = 60;
// Between passes if nothing changes: how late a job that is due may be asked about.
constexpr std::chrono::milliseconds kLongestMetricPause{60'000};
constexpr std::chrono::milliseconds kQueryTimeout{10'000};  // no answer ends the pass

}  // namespace

StepMetricController::StepMetricController(watch::Store& store, ApiWriter& writer,
                                           Recorder& recorder, Log& log, Options options)
    : store_(store),
      writer_(writer),
      recorder_(recorder),
      log_(log),
      options_(std::move(options)),
      wakeup_(*options_.executor) {}

void StepMetricController::Run() {
  while (wakeup_.Await(options_.least_pause, kLongestMetricPause)) {
    try {
      Pass();  // what failed is tried again in a later pass
    } catch (const std::exception& bug) {
      log_.Error("measuring steps failed", {{"error", bug.what()}});
    }
  }
}

void StepMetricController::Stop() {
  stopped_ = true;
  wakeup_.Stop();
}

bool StepMetricController::Pass() {
  const UnixSeconds now = options_.now();
  const api::Inputs inputs = store_.SnapshotJobs().inputs;
  const std::vector<StepMetric> metrics = predict::StepMetrics(inputs, now);
  DropStale(metrics);
  for (const StepMetric& metric : metrics) WarnIfNotRead(metric);
  for (const StepMetric* metric : Due(metrics, now)) {
    if (stopped_) break;
    if (!Measure(*metric, now)) return false;
  }
  return true;
}

// Warns of what no query would change.
void StepMetricController::WarnIfNotRead(const StepMetric& metric) {
  using State = StepMetric::State;
  if (metric.state == State::kInvalid) {
    return Warn(metric, predict::kStepMetricInvalid, metric.why + "; the step is not measured");
  }
  if (options_.prometheus == nullptr) {
    return Warn(metric, predict::kStepMetricUnused,
                "the metric " + metric.metric +
                    " is not read, because weft-operator has no --prometheus (prometheus.url of "
                    "the Helm chart)");
  }
  if (metric.state == State::kUnused) {
    Warn(metric, predict::kStepMetricUnused,
         "the metric " + metric.metric +
             " is not read, because no step is predicted for the job: its Placement has no "
             "status.outlook.stepMilliseconds");
  }
}

std::vector<const predict::StepMetric*> StepMetricController::Due(
    const std::vector<StepMetric>& metrics, UnixSeconds now) const {
  std::vector<std::pair<UnixSeconds, const StepMetric*>> due;
  if (options_.prometheus == nullptr || now < paused_until_) return {};
  for (const StepMetric& metric : metrics) {
    if (metric.state != StepMetric::State::kRuns) continue;
    const auto told = jobs_.find(metric.job->meta.uid);
    const UnixSeconds ask_at = told == jobs_.end() ? 0 : told->second.ask_at;
    if (ask_at <= now) due.emplace_back(ask_at, &metric);
  }
  std::stable_sort(due.begin(), due.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  if (due.size() > options_.most_queries) due.resize(options_.most_queries);
  std::vector<const StepMetric*> jobs;
  for (const auto& [ask_at, metric] : due) jobs.push_back(metric);
  return jobs;
}

bool StepMetricController::Measure(const StepMetric& metric, UnixSeconds now) {
  Told& told = jobs_[metric.job->meta.uid];
  told.ask_at = now + kMetricRetrySeconds;
  const auto count = [this](const char* result) {
    if (options_.counters != nullptr) {
      options_.counters->Add(metrics::Id::kStepMetricQueries, {result});
    }
  };
  const auto answer = promql::QueryPrometheus(
      *options_.prometheus, {predict::QueryText(metric), now, kQueryTimeout, [this] {
                               return stopped_ ? kube::Instant::min() : kube::Instant::max();
                             }});
  if (!answer) {
    if (stopped_) return false;
    count("Error");
    if (answer.error().kind == ErrorKind::kInvalid) {  // that of this job only
      told.ask_at = now + predict::kWindowSeconds;
      Warn(metric, predict::kStepMetricRefused, answer.error().message);
      return true;
    }
    paused_until_ = now + kMetricRetrySeconds;
    Fail("step metrics: Prometheus does not answer", answer.error(), unanswered_);
    return false;
  }
  unanswered_.clear();
  count(answer->empty() ? "Empty" : "OK");
  const predict::StepReading reading = predict::ReadStep(
      metric, answer->empty() ? std::nullopt : std::optional(answer->front().value));
  if (!reading.reason.empty()) Warn(metric, reading.reason.c_str(), reading.note);
  if (reading.seconds) {
    const Status written = Write(metric, *reading.seconds);
    if (!written && written.error().kind == ErrorKind::kConflict) return true;  // asked again soon
    if (!written) {
      Fail("step metrics: a measured step cannot be written", written.error(), unwritten_);
      return false;
    }
    unwritten_.clear();
  }
  // A query within the same window would read the same samples again.
  if (!answer->empty()) told.ask_at = now + predict::kWindowSeconds;
  return true;
}

Status StepMetricController::Write(const StepMetric& metric, double seconds) {
  const api::ObjectMeta& meta = metric.job->meta;
  const nlohmann::json measured(seconds);
  const auto written =
      writer_.PatchStatus({Kind::kTrainingJob, meta.key, meta.uid, meta.resource_version},
                          {{"status", {{predict::kMeasuredStepField, measured}}}});
  if (!written) return written.error();
  const nlohmann::json* status = api::FindMember(*written, "status");
  if (status == nullptr || !status->contains(predict::kMeasuredStepField)) {
    Warn(metric, "StepNotKept",
         "the cluster's definition of TrainingJobs has no status." +
             std::string(predict::kMeasuredStepField) +
             ": apply the definitions of this version (crds/)");
    return {};
  }
  log_.Info(
      "step measured",
      {{"job", api::Show(meta.key)}, {"metric", metric.metric}, {"seconds", measured.dump()}});
  return {};
}

void StepMetricController::Warn(const StepMetric& metric, const char* reason,
                                const std::string& note) {
  const api::ObjectMeta& meta = metric.job->meta;
  std::string& last = jobs_[meta.uid].warning;
  if (last == note) return;
  last = note;
  recorder_.Record({"TrainingJob", &meta, true, reason, "MeasureStep", note});
  log_.Info("step is not measured", {{"job", api::Show(meta.key)}, {"why", note}});
}

void StepMetricController::Fail(const std::string& what, const Error& error, std::string& last) {
  if (last == error.message) return;
  last = error.message;
  log_.Warning(what, {{"reason", error.message}});
}

void StepMetricController::DropStale(const std::vector<StepMetric>& metrics) {
  std::set<std::string> known;
  for (const StepMetric& metric : metrics) known.insert(metric.job->meta.uid);
  std::erase_if(jobs_, [&](const auto& one) { return !known.contains(one.first); });
}

}  // namespace weft::controllers
