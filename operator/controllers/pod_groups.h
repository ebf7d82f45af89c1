#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "operator/api/training_job.h"
#include "operator/base/result.h"
#include "operator/base/timestamp.h"
#include "operator/controllers/api_writer.h"
#include "operator/controllers/log.h"
#include "operator/controllers/outcome.h"
#include "operator/controllers/recorder.h"
#include "operator/launch/gang.h"
#include "operator/life/job_view.h"
#include "operator/watch/store.h"

namespace weft::controllers {

// A feature that only some of the servers know does harm: nothing in the API tells which have it.
// Without the PodGroup an attempt is pinned all the same (launch/pin.h), so after one server has
// been found to lack the feature gate, attempts are pinned only, for an hour.
inline constexpr std::int64_t kPinnedOnlySeconds = 3'600;
// kube-controller-manager takes its finalizer off within seconds; longer than its leaders change.
inline constexpr std::int64_t kGroupGoneWithinSeconds = 60;
// kube-scheduler writes the group's condition when it binds the pods. Later than kLookedAtSeconds
// after the last pod was made nothing is concluded.
inline constexpr std::int64_t kGroupDecidedWithinSeconds = 15, kLookedAtSeconds = 120;

// Makes the PodGroups of attempts (launch/pod_group.h) where the servers know them, finds out which
// server does not, and takes the finalizer off those of Weft that nobody else does.
// Thread-safety  all calls may run at once.
class PodGroups {
 public:
  struct Options {
    bool enabled = true;  // false: none is made
    std::function<UnixSeconds()> now;
  };
  PodGroups(watch::Store& store, ApiWriter& writer, Recorder& recorder, Log& log, Options options)
      : store_(store), writer_(writer), recorder_(recorder), log_(log), options_(options) {}

  // Whether the job's next attempt is to have a PodGroup. If a server was found to lack the
  // feature, an event of the job says so.
  bool Wanted(const api::TrainingJob& job);
  // The name of the attempt's PodGroup, which exists then; "" if the API server refuses it, which
  // an event of the job tells.
  // Errors  kTransient, kConflict: the caller must try again.
  Result<std::string> Make(const launch::Gang& gang);

  // A pod was stored without the group that it was made with.
  void OnPodWithoutGroup(const api::ObjectMeta& job);
  // Looks at an attempt whose pods are in a group. A job whose group kube-scheduler finds in error,
  // as if a webhook gave its pods another priority, gets none for its next attempts. Returns in how
  // many seconds it must look again; nothing: after the next change.
  std::optional<std::int64_t> LookAt(const life::JobView& view);
  void Forget(const std::string& job_uid);
  // Looks at one PodGroup after a change.
  // Errors  of the write.
  Result<Outcome> Reconcile(const api::ObjectKey& key);

 private:
  void Lacks(const char* server, const std::string& evidence, const api::ObjectMeta* job);
  bool IsUndecided(const api::ObjectKey& group);
  bool IsPinnedOnly();
  void Tell(const api::ObjectMeta& job, const std::string& why);
  // Seconds until nobody else can be expected to take the finalizer off.
  std::int64_t LeftOf(const api::PodGroup& group);

  watch::Store& store_;
  ApiWriter& writer_;
  Recorder& recorder_;
  Log& log_;
  const Options options_;
  std::mutex mutex_;
  std::string lacking_;  // why attempts are pinned only
  UnixSeconds pinned_only_until_ = 0;
  std::map<std::string, std::string> in_error_;  // by uid of a job: what kube-scheduler says
  // A deleted group that no pod is in, and since when.
  struct Unused {
    std::string uid;
    UnixSeconds since = 0;
  };
  std::map<api::ObjectKey, Unused> unused_;
};

}  // namespace weft::controllers
