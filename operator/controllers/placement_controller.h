#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "operator/controllers/api_writer.h"
#include "operator/controllers/log.h"
#include "operator/controllers/outcome.h"
#include "operator/controllers/recorder.h"
#include "operator/life/gang_step.h"
#include "operator/run/executor.h"
#include "operator/watch/store.h"

namespace weft::controllers {

// Carries out life::NextUngateStep for each Placement with a podSelector: one step per reconcile.
// The planner writes the nodes; this controller ungates the pods of other controllers onto them. If
// no job owns the Placement and its spec cannot be read, it gets the condition Accepted=False.
// Thread-safety  Reconcile may run in many threads at once, for different Placements.
class PlacementController {
 public:
  struct Options {
    life::LifeOptions life;
    std::function<UnixSeconds()> now;
    std::size_t writes_at_once = 16;
    run::Executor* executor = &run::SystemExecutor();  // of threads that write
  };
  PlacementController(watch::Store& store, ApiWriter& writer, Recorder& recorder, Log& log,
                      Options options);

  // Does one step for the Placement.
  // Errors  of the write; the caller retries transient errors and conflicts.
  Result<Outcome> Reconcile(const api::ObjectKey& key);

 private:
  using Answer = Result<Outcome>;

  std::optional<life::WritePlacement> Accept(const api::Placement& placement) const;
  Answer Do(const api::Placement& placement, const life::UngatePods& step);
  Answer Do(const api::Placement& placement, const life::EvictPods& step);
  Answer Do(const api::Placement& placement, const life::WritePlacement& step);
  Answer Do(const api::Placement& placement, const life::AskJob& step);
  Answer Do(const api::Placement& placement, const life::Wait& step);

  std::shared_ptr<const api::PodGroup> GroupOf(
      const std::vector<std::shared_ptr<const api::Pod>>& pods, life::GangGroup& gang) const;
  Status Ungate(const api::Placement& placement, const cluster::WorkerPod& one);
  void RecordEvents(const api::Placement& placement, const life::PlacementStatus& status);

  watch::Store& store_;
  ApiWriter& writer_;
  Recorder& recorder_;
  Log& log_;
  const Options options_;
  // When the Jobs of Placements that are short of pods were last asked.
  struct Asked {
    std::string uid;  // of the Placement
    UnixSeconds at = 0;
    std::int64_t pause = 0;
  };
  void Forget(const api::ObjectKey& key);
  UnixSeconds AskAt(const api::ObjectMeta& placement);
  std::mutex mutex_;
  std::map<api::ObjectKey, Asked> asked_;
};

}  // namespace weft::controllers
