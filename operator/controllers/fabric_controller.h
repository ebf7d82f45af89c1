#pragma once

#include <cstdint>
#include <functional>

#include "operator/controllers/api_writer.h"
#include "operator/controllers/log.h"
#include "operator/controllers/recorder.h"
#include "operator/controllers/wakeup.h"
#include "operator/watch/fabric_cache.h"
#include "operator/watch/store.h"

namespace weft::controllers {

// Writes the status of each Fabric, and an event when it becomes unusable or usable again. Passes
// have pauses between them, so that hundreds of changing nodes cost little.
// Thread-safety  all calls may run at once.
class FabricController {
 public:
  struct Options {
    std::function<UnixSeconds()> now;
    run::Executor* executor = &run::SystemExecutor();
  };
  FabricController(watch::Store& store, watch::FabricCache& cache, ApiWriter& writer,
                   Recorder& recorder, Log& log, Options options);

  // A Node or a Fabric has changed.
  void OnChange() { wakeup_.Ring(); }
  // Runs passes until Stop.
  void Run();
  void Stop() { wakeup_.Stop(); }
  // One pass over all Fabrics; false if a write must be tried again.
  bool Pass();

 private:
  bool Write(const api::ObjectMeta& meta, const api::Raw& before, const nlohmann::json& status);

  watch::Store& store_;
  watch::FabricCache& cache_;
  ApiWriter& writer_;
  Recorder& recorder_;
  Log& log_;
  const Options options_;
  Wakeup wakeup_;
};

}  // namespace weft::controllers
