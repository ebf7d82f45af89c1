#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operator/api/job_record.h"
#include "operator/base/timestamp.h"

namespace weft::life {

// Retries of TrainingJobs and of gangs of other controllers: the cause that ended an attempt
// decides which nodes the next attempt excludes, how long it waits, and whether it counts as a
// restart. The status alone decides all of this.

enum class Cause : std::uint8_t {
  kSchedulerRefused,  // kube-scheduler refused a pod, or its node is gone
  kSchedulerSilent,   // only part of the gang was bound, without a reported reason
  kAdmissionRefused,  // a quota, a webhook or Pod Security refused a create or an update
  kNodeRejected,      // the kubelet refused a pod that was bound to it
  kNodeLost,          // the node is lost
  kDisrupted,         // the cluster or a user took a pod away
  kNodeFault,         // a program failed when its node got a fatal condition
  kNodeUnfit,         // a check of the node before the program failed
  kProgramFailed,     // a container failed
  kNotReady,          // not every worker was ready in time
  kSpecChanged,       // the user has changed what the attempt was made for
};

// Its name, as status.lastFailure.cause has it: "NodeLost".
std::string_view CauseName(Cause cause);

// What the cause means for the nodes where it happened.
enum class Leave : std::uint8_t {
  kUsed,       // nothing: the node has no fault, or its own state shows it
  kOut,        // excluded
  kOutSoftly,  // avoided if possible, after two failures in a row there
};

// How failures of one cause are retried.
struct RetryPolicy {
  Leave leave = Leave::kUsed;
  std::int64_t free_tries = 0;       // attempts in a row without a wait, on other nodes
  std::int64_t most_seconds = 0;     // the longest wait, before jitter
  std::int64_t lasting_seconds = 0;  // an attempt this old that was ready resets the count
  bool infrastructure = true;        // restarts count by failurePolicy.infrastructure
};
RetryPolicy PolicyOf(Cause cause);

// The first wait after the free tries; each later one is twice as long (as for the pods of a Job:
// 10 s to 6 min).
inline constexpr std::int64_t kFirstRetrySeconds = 10;
// Allowed difference between two leaders' clocks. If a time in the status is later than possible by
// more than this, a wrong clock wrote it, and it counts as past.
inline constexpr std::int64_t kClockSkewSeconds = 60;

// A failed attempt.
struct Failed {
  Cause cause = Cause::kProgramFailed;
  std::string_view uid;                       // of the object; a seed of the jitter
  std::int64_t attempt = 0;                   // another seed of the jitter
  std::optional<std::int64_t> ready_seconds;  // the attempt's age; nothing if never ready
};
// How: wait = min(10 s x 2^(times - free tries - 1), most) x (1 to 1.25 by hash(uid, attempt)).
api::Retry NextRetry(const api::Retry& before, const Failed& failed, UnixSeconds now);

// Seconds until the next attempt may be placed; 0 or less if it may be placed now.
std::int64_t RetryLeft(const api::Retry& retry, UnixSeconds now);

// "; the next attempt starts at 2026-08-22T10:00:00Z, after 3 failures in a row", or "" if it
// starts at once.
std::string RetryText(const api::Retry& retry);

}  // namespace weft::life
