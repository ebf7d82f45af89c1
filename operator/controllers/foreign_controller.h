#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operator/cluster/gang_shape.h"
#include "operator/controllers/api_writer.h"
#include "operator/controllers/log.h"
#include "operator/controllers/outcome.h"
#include "operator/controllers/recorder.h"
#include "operator/life/gang_pods.h"
#include "operator/run/executor.h"
#include "operator/watch/fabric_cache.h"
#include "operator/watch/store.h"

namespace weft::controllers {

// Carries out life::NextForeignStep: makes the Placement of pods of other controllers that have the
// label weft.dev/place. What keeps it from doing so is an event on the pods' owner and on the first
// of them, repeated while it lasts.
// Thread-safety  Reconcile may run in many threads at once, for different gangs.
class ForeignController {
 public:
  struct Options {
    std::size_t writes_at_once = 16;
    run::Executor* executor = &run::SystemExecutor();  // of threads that write
  };
  ForeignController(watch::Store& store, watch::FabricCache& cache, ApiWriter& writer,
                    Recorder& recorder, Log& log, Options options);

  // Does one step for the gang: its namespace and cluster::ForeignGang::base, "" for pods of no
  // gang. Errors  of the write; the caller retries transient errors and conflicts.
  Result<Outcome> Reconcile(const api::ObjectKey& gang);

 private:
  using Answer = Result<Outcome>;

  using Pods = std::vector<std::shared_ptr<const api::Pod>>;
  using Placements = std::vector<std::shared_ptr<const api::Placement>>;

  static bool IsSelected(const Placements& placements, const api::Pod& pod);
  Answer ReportPodsWithoutGang(const Pods& pods, const Placements& placements);
  Answer Do(const life::CreateForeign& step);
  Answer Do(const life::DeleteForeign& step);
  Answer Do(const life::FreeForeign& step);
  Answer Do(const life::Wait& step);

  Result<api::Placement> Describe(const life::CreateForeign& step);
  Result<cluster::GangShape> ShapeOf(const life::CreateForeign& step,
                                     const std::vector<std::string>& accelerator_resources);
  Answer Create(const life::CreateForeign& step, const api::Placement& placement);
  void Inherit(const api::Placement& before, api::Placement& created);
  void RecordEvents(const life::CreateForeign& step, bool warning, std::string_view reason,
                    const std::string& note);

  watch::Store& store_;
  watch::FabricCache& cache_;
  ApiWriter& writer_;
  Recorder& recorder_;
  Log& log_;
  const Options options_;
};

}  // namespace weft::controllers
