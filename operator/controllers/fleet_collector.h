#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "operator/base/timestamp.h"
#include "operator/controllers/running_figures.h"
#include "operator/metrics/samples.h"
#include "operator/watch/fabric_cache.h"
#include "operator/watch/store.h"

namespace weft::controllers {

// Computes the metrics of fabrics, jobs and gangs from the store, in the caller's thread, only if
// the store has changed. Concurrent callers get the previous metrics. Deleted objects leave no
// series.
// Thread-safety  all calls may run at once.
// Cost           O(store) after a change; otherwise only a pointer is returned.
class FleetCollector {
 public:
  struct Options {
    std::function<UnixSeconds()> now;
    std::function<double()> seconds;   // of a steady clock
    bool audit = false;                // also compare gangs that other schedulers placed
    double least_seconds_between = 1;  // younger figures are reused
    plan::Deciding deciding;           // of RunningFigures; may be null
    std::string version;               // likewise
  };
  FleetCollector(const watch::Store& store, watch::FabricCache& cache, Options options);

  // The store has changed.
  void OnChange() { changes_.fetch_add(1, std::memory_order_relaxed); }

  struct Figures {
    std::string text;    // in Prometheus' text format
    double seconds = 0;  // that computing them took
    std::size_t series = 0;
  };
  std::shared_ptr<const Figures> Collect();

 private:
  // The last run of one computation: the state of the store, the time and the duration.
  struct Turn {
    std::uint64_t of = 0;
    double at = 0, seconds = 0;
    void Done(double begin, double end) { at = end, seconds = end - begin; }
  };
  bool Due(const Turn& last, double least, double time) const;
  std::shared_ptr<const Figures> Work(bool audit);

  const watch::Store& store_;
  watch::FabricCache& cache_;
  const Options options_;
  std::atomic<std::uint64_t> changes_{1};

  std::mutex working_;  // held while figures are computed
  Turn worked_, audited_;
  RunningFigures running_;
  std::string audit_text_;

  mutable std::mutex mutex_;  // guards figures_
  std::shared_ptr<const Figures> figures_;
};

}  // namespace weft::controllers
