#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/pod.h"
#include "operator/base/timestamp.h"
#include "operator/controllers/api_writer.h"
#include "operator/controllers/log.h"
#include "operator/life/pod_events.h"
#include "operator/watch/store_objects.h"

namespace weft::controllers {

// A pod that has been bound for so long, and has not started, may have events that say why.
inline constexpr std::int64_t kSilentSeconds = 3;
// How often the events of a namespace are asked for; less often while all that wait are told, or
// nothing of them has changed for a minute: one more has its sandbox, or waits.
inline constexpr std::int64_t kAskSeconds = 7;
inline constexpr std::int64_t kAskSeldomSeconds = 30;
inline constexpr std::int64_t kLongSilentSeconds = 60;
// After an error, or an answer that took long, nothing is asked of the namespace for a while. The
// API server reads all events of a namespace for each answer.
inline constexpr std::int64_t kUnansweredPauseSeconds = 10;
inline constexpr std::int64_t kForbiddenPauseSeconds = 600;
inline constexpr std::int64_t kPauseForEachSecond = 20;

// Asks for the events of pods that do not start and whose status does not say why
// (life/pod_events.h), because no watch tells the operator of them: a cluster has far more events
// than pods. One answer serves all jobs of a namespace. Events are nothing that a job depends on:
// without the right to read them, or without an answer, all goes on as if there were none.
// Thread-safety  all calls may run at once; one request is under way at a time.
class PodEvents {
 public:
  PodEvents(ApiWriter& reader, Log& log, std::function<UnixSeconds()> now)
      : reader_(reader), log_(log), now_(std::move(now)) {}

  // Asks for the events of the job's namespace if it is time. True if it did: `objects` are of
  // before then.
  bool AskFor(const watch::JobObjects& objects);
  // Replaces the pods of `objects` about which events say why they wait by copies that say so.
  // Returns in how many seconds it must be called again; nothing: after the next change.
  std::optional<std::int64_t> AddTo(watch::JobObjects& objects);
  void Forget(const std::string& job_uid);

 private:
  struct Space {
    UnixSeconds asked = 0, not_before = 0, used = 0;
    bool refused = false;                         // and told so in the log
    std::map<std::string, life::EventWait> told;  // why it waits, by uid of the pod
  };
  struct Silence {
    UnixSeconds since = 0, changed = 0;
    std::size_t waiting = 0, with_sandbox = 0;  // pods
  };
  using Silent = std::vector<std::size_t>;  // indexes of pods
  // Which pods of the job wait without a word, and since when some do.
  Silent Look(const watch::JobObjects& objects);
  // When the namespace may be asked for them.
  UnixSeconds Due(const watch::JobObjects& objects, const Silent& silent);
  void Ask(const std::string& space);
  void Take(Space& space, const Result<nlohmann::json>& answer, UnixSeconds began);

  ApiWriter& reader_;
  Log& log_;
  const std::function<UnixSeconds()> now_;
  std::mutex mutex_;
  bool asking_ = false;
  std::map<std::string, Silence> since_;  // some pod waits, by uid of the job
  std::map<std::string, Space> spaces_;
};

}  // namespace weft::controllers
