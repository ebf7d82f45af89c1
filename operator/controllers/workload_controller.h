#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "operator/controllers/api_writer.h"
#include "operator/controllers/log.h"
#include "operator/controllers/outcome.h"
#include "operator/controllers/planner.h"
#include "operator/life/kueue_check.h"
#include "operator/watch/fabric_cache.h"
#include "operator/watch/store.h"

namespace weft::controllers {

// Answers Weft's AdmissionChecks of Kueue's Workloads: carries out life::NextCheckStep, one step
// per reconcile, and writes the condition Active of the checks themselves. Thread-safety  Reconcile
// may run in many threads at once, for different keys.
class WorkloadController {
 public:
  struct Options {
    life::CheckOptions check;
    std::int64_t node_loss_seconds = 60;
    std::function<UnixSeconds()> now;
    std::function<bool()> synced;  // whether the kinds of Kueue have been listed completely
    metrics::Counters* counters = nullptr;  // must outlive the controller; null: nothing is counted
  };
  WorkloadController(watch::Store& store, watch::FabricCache& cache, ApiWriter& writer,
                     Planner& planner, Log& log, Options options);

  // Does one step for a Workload, or without a namespace for an AdmissionCheck.
  // Errors  of the write; the caller retries transient errors and conflicts.
  Result<Outcome> Reconcile(const api::ObjectKey& key);

 private:
  using Answer = Result<Outcome>;

  Answer ReconcileCheck(const api::ObjectKey& key);
  UnixSeconds HoldsSince(const life::CheckView& view);
  bool InUse(const api::Placement& placement) const;
  std::optional<watch::JobObjects> JobOf(const api::Workload& workload) const;
  life::QueuedJob QueuedJobOf(const watch::JobObjects& objects) const;
  bool IsOrphan(const api::Workload& workload) const;
  Answer Release(const api::Workload& workload);
  Answer Do(const api::Workload& workload, life::RequestNodes& step);
  Answer Do(const api::Workload& workload, const life::AnswerCheck& step);
  Answer ReadAgain(const Target& target);
  Answer Do(const api::Workload& workload, const life::DropPlacements& step);
  Answer Do(const api::Workload& workload, const life::Wait& step);

  watch::Store& store_;
  watch::FabricCache& cache_;
  ApiWriter& writer_;
  Planner& planner_;
  Log& log_;
  const Options options_;
  struct Hold {
    std::string reservation;
    UnixSeconds since = 0;  // when it began to wait for Weft alone
  };
  std::mutex mutex_;
  std::map<api::ObjectKey, Hold> holds_;  // of Workloads that do. A new leader begins anew
};

}  // namespace weft::controllers
