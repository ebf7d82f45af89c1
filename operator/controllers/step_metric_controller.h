#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "operator/controllers/api_writer.h"
#include "operator/controllers/log.h"
#include "operator/controllers/recorder.h"
#include "operator/controllers/wakeup.h"
#include "operator/kube/transport.h"
#include "operator/metrics/counters.h"
#include "operator/predict/step_metric.h"
#include "operator/watch/store.h"

namespace weft::controllers {

// Measures the steps of running jobs that name a metric (predict/step_metric.h): asks Prometheus
// and writes status.measuredStepSeconds, from which LearnedController learns.
// What is wrong becomes an event of the job, once; that Prometheus does not answer is logged, once.
//
// A write is a compare-and-swap: after a person's edit in between it fails and is tried again.
// Thread-safety  OnChange and Stop may run at any time; Run or Pass in one thread.
class StepMetricController {
 public:
  struct Options {
    kube::Transport* prometheus = nullptr;  // must outlive this; null: nothing is measured
    std::function<UnixSeconds()> now;
    metrics::Counters* counters = nullptr;  // null: nothing is counted
    std::size_t most_queries = 50;  // of one pass, one at a time; they bound the load on Prometheus
    std::chrono::milliseconds least_pause{5'000};  // between passes
    run::Executor* executor = &run::SystemExecutor();
  };
  StepMetricController(watch::Store& store, ApiWriter& writer, Recorder& recorder, Log& log,
                       Options options);

  // A TrainingJob or its Placement has changed.
  void OnChange() { wakeup_.Ring(); }
  // Runs passes until Stop.
  void Run();
  // Also ends a query that is in progress.
  void Stop();

  // Looks at all jobs with the annotation, and asks about those that have waited longest. False if
  // Prometheus or the API server did not answer.
  bool Pass();

 private:
  using StepMetric = predict::StepMetric;
  void WarnIfNotRead(const StepMetric& metric);
  std::vector<const StepMetric*> Due(const std::vector<StepMetric>& metrics, UnixSeconds now) const;
  bool Measure(const StepMetric& metric, UnixSeconds now);
  Status Write(const StepMetric& metric, double seconds);
  void Warn(const StepMetric& metric, const char* reason, const std::string& note);
  // Logs an error unless it is the same as `last`.
  void Fail(const std::string& what, const Error& error, std::string& last);
  void DropStale(const std::vector<StepMetric>& metrics);

  watch::Store& store_;
  ApiWriter& writer_;
  Recorder& recorder_;
  Log& log_;
  const Options options_;

  // About one job, by uid.
  struct Told {
    UnixSeconds ask_at = 0;
    std::string warning;  // that was last given
  };
  std::map<std::string, Told> jobs_;
  UnixSeconds paused_until_ = 0;        // no query before, because Prometheus did not answer
  std::string unanswered_, unwritten_;  // errors that were last logged; "" after a success
  std::atomic<bool> stopped_{false};
  Wakeup wakeup_;
};

}  // namespace weft::controllers
