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
#include "operator/controllers/recorder.h"
#include "operator/launch/gang.h"
#include "operator/life/job_view.h"
#include "operator/watch/store.h"

namespace weft::controllers {

// A job whose PodGroup did harm or nothing is only pinned for so long, and its events say why. Of
// no other job this says anything: who may write in its namespace can bring it about.
inline constexpr std::int64_t kPinnedOnlySeconds = 3'600;
// kube-scheduler writes the group's condition when it binds the pods.
inline constexpr std::int64_t kGroupDecidedWithinSeconds = 15;
// A server that does not answer about PodGroups holds a job no longer.
inline constexpr std::int64_t kGroupMadeWithinSeconds = 10;

// Makes the PodGroups of attempts (launch/pod_group.h) where the API server serves them. Nothing
// tells which of the servers heed them, so it is found out job by job; without its PodGroup an
// attempt is pinned all the same.
// Thread-safety  all calls may run at once.
class PodGroups {
 public:
  struct Options {
    bool enabled = true;  // false: none is made
    std::function<UnixSeconds()> now;
  };
  PodGroups(watch::Store& store, ApiWriter& writer, Recorder& recorder, Options options)
      : store_(store), writer_(writer), recorder_(recorder), options_(std::move(options)) {}

  // Why the job's next attempt has no PodGroup: "" if that is as it should be, nothing if it is to
  // have one.
  std::optional<std::string> WhyNot(const api::TrainingJob& job);
  // Records an event with the reason.
  void Tell(const api::ObjectMeta& job, const std::string& why);
  // The name of the attempt's PodGroup, which exists then; "" if the API server refuses it, or has
  // not answered for kGroupMadeWithinSeconds, which an event of the job tells.
  // Errors  kTransient, kConflict: the caller must try again.
  Result<std::string> Make(const launch::Gang& gang);

  // A pod was stored without the group that it was made with.
  void OnPodWithoutGroup(const api::ObjectMeta& job);
  // The API server refused pods with a group; without one it may take them.
  void OnPodRefused(const api::ObjectMeta& job, const std::string& why);
  // Looks at an attempt whose pods are in the group that Make returned: whether kube-scheduler
  // heeds it, and whether it finds it in error, as if a webhook gave its pods another priority.
  // Returns in how many seconds it must look again; nothing: after the next change.
  std::optional<std::int64_t> LookAt(const life::JobView& view);
  void Forget(const std::string& job_uid);

 private:
  // What is known of one job.
  struct Known {
    std::string why;  // it is only pinned
    UnixSeconds until = 0;
    UnixSeconds failing = 0;  // since when its PodGroup cannot be made; 0: it can
    int refused = 0;          // attempts whose pods were refused
    std::string bound_group;  // whose pods are all bound, without a decision
    UnixSeconds bound_since = 0;
  };
  void Pin(const api::ObjectMeta& job, const std::string& why);
  bool HasFailedLong(const std::string& job_uid, bool fails);
  bool IsUndecided(const api::ObjectKey& group);
  std::optional<std::int64_t> LookAtBound(const life::JobView& view);

  watch::Store& store_;
  ApiWriter& writer_;
  Recorder& recorder_;
  const Options options_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;  // by uid of the job
};

}  // namespace weft::controllers
