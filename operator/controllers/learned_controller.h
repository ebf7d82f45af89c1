#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "operator/controllers/api_writer.h"
#include "operator/controllers/log.h"
#include "operator/controllers/recorder.h"
#include "operator/controllers/wakeup.h"
#include "operator/predict/learned.h"
#include "operator/watch/store.h"

namespace weft::controllers {

// Keeps the ConfigMap weft-learned-steps: reads it into the store, so that plans use it as people
// have edited it, and writes into it what measured jobs add (predict/learned.h).
//
// What was counted and the names of the jobs that were counted are in the same entry, and each
// write is a compare-and-swap of the whole ConfigMap. So there is no order of writes that a crash
// could interrupt: a job whose write got no answer, or was counted by an earlier leader, is found
// in the entry when it is read again. A person's edit in between makes the write fail, and the jobs
// are counted onto the edited numbers.
// Thread-safety  all calls may run at once.
class LearnedController {
 public:
  struct Options {
    std::function<UnixSeconds()> now;
    std::string space;  // the operator's namespace; "": does nothing
    run::Executor* executor = &run::SystemExecutor();
  };
  LearnedController(watch::Store& store, ApiWriter& writer, Recorder& recorder, Log& log,
                    Options options);

  // A TrainingJob or its Placement has changed.
  void OnChange() { wakeup_.Ring(); }
  // Runs passes until Stop.
  void Run();
  void Stop() { wakeup_.Stop(); }

  // Reads the ConfigMap into the store. False if there was no answer.
  bool Read();
  // Counts the measured jobs that the ConfigMap does not name. False if it must be tried again.
  bool Count();

 private:
  Status Write(const predict::LearnedScalars& learned, const api::Inputs& inputs);
  void Take(const nlohmann::json& object);
  void Report(const predict::LearnedScalars& learned, bool written);
  void ReportObservation(const predict::LearnedScalars::Observation& one,
                         const predict::LearnedScalars& learned);
  // Whether the text is another than at the last call for this key.
  bool ShouldReport(const std::string& key, const std::string& text);
  void Fail(const std::string& what, const Error& error);

  watch::Store& store_;
  ApiWriter& writer_;
  Recorder& recorder_;
  Log& log_;
  const Options options_;

  std::map<std::string, std::string> reported_;  // by object: the warning that was last given
  Wakeup wakeup_;
};

}  // namespace weft::controllers
