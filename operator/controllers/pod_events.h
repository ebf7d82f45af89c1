#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "operator/api/pod.h"
#include "operator/base/timestamp.h"
#include "operator/controllers/api_writer.h"
#include "operator/controllers/log.h"
#include "operator/watch/store_objects.h"

namespace weft::controllers {

// A pod that has been bound for so long, and is not started, may have events that say why.
inline constexpr std::int64_t kSilentSeconds = 3;
// How often a job's pods are asked about, one at a time; longer while one of them has an answer.
inline constexpr std::int64_t kAskSeconds = 7;
inline constexpr std::int64_t kAskAgainSeconds = 30;
// After an error nothing is asked for a while, about no job.
inline constexpr std::int64_t kUnansweredPauseSeconds = 10;
inline constexpr std::int64_t kForbiddenPauseSeconds = 600;

// Asks for the events of pods that do not start and whose status does not say why
// (life/pod_events.h), because no watch tells the operator of them: a cluster has far more events
// than pods. Events are nothing that a job depends on: without the right to read them, or without
// an answer, all goes on as if there were none.
// Thread-safety  all calls may run at once; one request is under way at a time.
class PodEvents {
 public:
  PodEvents(ApiWriter& reader, Log& log, std::function<UnixSeconds()> now)
      : reader_(reader), log_(log), now_(std::move(now)) {}

  // Replaces the pod of `objects` about which events say why it waits by a copy that says so.
  // Returns in how many seconds it must be called again; nothing: after the next change.
  std::optional<std::int64_t> AddTo(watch::JobObjects& objects);
  void Forget(const std::string& job_uid);

 private:
  // What is known of one job.
  struct Known {
    UnixSeconds since = 0;  // some pod waits
    UnixSeconds asked = 0;  // last
    std::string last;       // the pod that was asked about, by name
    std::string uid, text;  // the pod that has an answer, and the answer; "": none
  };
  // Whether it is time to ask; `left`: in how many seconds to look again.
  bool Begin(Known& known, UnixSeconds now, std::int64_t& left);
  void Ask(const std::string& job_uid, const api::ObjectMeta& pod);

  ApiWriter& reader_;
  Log& log_;
  const std::function<UnixSeconds()> now_;
  std::mutex mutex_;
  bool asking_ = false;
  UnixSeconds paused_until_ = 0;
  std::map<std::string, Known> known_;  // by uid of the job
};

}  // namespace weft::controllers
