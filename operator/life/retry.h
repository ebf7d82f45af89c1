#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operator/api/job_record.h"
#include "operator/base/timestamp.h"

namespace weft::life {

// Trying again, for TrainingJobs and gangs of others: from why an attempt ended to which nodes the
// next leaves out, how long it waits, and whether it counts as a restart. All of it follows from
// what stands in status.

enum class Cause : std::uint8_t {
  kSchedulerRefused,  // kube-scheduler said no to a pod, or its node is gone
  kSchedulerSilent,   // half bound, and nobody said why
  kAdmissionRefused,  // a quota, a webhook or Pod Security refused a create or an update
  kNodeRejected,      // the kubelet refused a pod that was bound to it
  kNodeLost,          // the node is lost, or the cluster took a pod away
  kProgramFailed,     // a container ended badly
  kNotReady,          // not every worker was ready in time
};

// What becomes of the nodes where it happened.
enum class Leave : std::uint8_t {
  kUsed,       // nothing: the node's own state says what is wrong with it, or it has no fault
  kOut,        // left out
  kOutSoftly,  // left out while other nodes do, once it has happened there twice in a row
};

// The policy of one cause.
struct RetryPolicy {
  Leave leave = Leave::kUsed;
  std::int64_t free_tries = 0;       // so many in a row follow at once: other nodes take them
  std::int64_t most_seconds = 0;     // the longest wait, before jitter
  std::int64_t lasting_seconds = 0;  // an attempt that was ready and as old was none of a row
  bool infrastructure = true;        // counted as failurePolicy.infrastructure says
};
RetryPolicy PolicyOf(Cause cause);

// The wait after the free tries, doubling from there (of a Job's pods 10 s, up to 6 min).
inline constexpr std::int64_t kFirstRetrySeconds = 10;
// How far two leaders' clocks may differ: a time in status that is later than it can be by more
// than this was written by a wrong clock, and counts as past.
inline constexpr std::int64_t kClockSkewSeconds = 60;

// One more attempt that failed.
struct Failed {
  Cause cause = Cause::kProgramFailed;
  std::string_view uid;                       // of the object: jitter differs between objects
  std::int64_t attempt = 0;                   // and between attempts
  std::optional<std::int64_t> ready_seconds;  // its age, where its workers were ready once
};
// How: wait = min(10 s x 2^(times - free tries - 1), most) x (1 to 1.25 by hash(uid, attempt)).
api::Retry NextRetry(const api::Retry& before, const Failed& failed, UnixSeconds now);

// Seconds until the next attempt may be placed; at most 0 where it may be now.
std::int64_t RetryLeft(const api::Retry& retry, UnixSeconds now);

// "; the next attempt starts at 2026-08-22T10:00:00Z, after 3 that failed in a row", or "" where it
// starts at once.
std::string RetryText(const api::Retry& retry);

}  // namespace weft::life
