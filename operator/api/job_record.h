#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/checkpoint.h"

namespace weft::api {

// How strictly a node is excluded, named like the effects of taints.
enum class ExclusionEffect : std::uint8_t {
  kNoSchedule,        // never used: it refused a pod
  kPreferNoSchedule,  // avoided if possible: programs failed there more than once
};

// A node that refused one of the job's pods, or on which they fail, and until when it is excluded.
struct ExcludedNode {
  std::string node;
  std::string until;  // RFC 3339
  std::int64_t times = 1;
  ExclusionEffect effect = ExclusionEffect::kNoSchedule;

  friend bool operator==(const ExcludedNode&, const ExcludedNode&) = default;
};

// Number of attempts that failed in a row, and the earliest time of the next placement.
struct Retry {
  std::int64_t times = 0;
  std::string not_before;  // RFC 3339; "": at once

  friend bool operator==(const Retry&, const Retry&) = default;
};

struct LastFailure {
  std::int64_t attempt = 0;
  std::int64_t worker = 0;
  std::string node, reason;
  std::int64_t exit_code = 0;
  std::string time;      // RFC 3339
  std::string message;   // what the container left in its termination message, on one line
  std::string cause;     // "NodeLost", "ProgramFailed", ... (life/retry.h)
  bool counted = false;  // toward maxRestarts

  friend bool operator==(const LastFailure&, const LastFailure&) = default;
};

struct WorkerCounts {
  std::int64_t desired = 0, ready = 0, succeeded = 0, failed = 0;

  friend bool operator==(const WorkerCounts&, const WorkerCounts&) = default;
};

// status.summary: the printer columns.
struct Summary {
  std::string workers, spans, cross_node, of_best;
  std::string step, tokens_per_second, memory;  // predicted

  friend bool operator==(const Summary&, const Summary&) = default;
};

// The status of a TrainingJob between reconciles, except attempt and conditions.
struct JobRecord {
  std::int64_t observed_generation = 0;
  Summary summary;
  std::int64_t restarts = 0;
  WorkerCounts workers;
  std::string completed_indexes;            // of the attempt (cluster/completed_indexes.h)
  std::string start_time, completion_time;  // RFC 3339; "" if absent
  std::int64_t suspended_seconds = 0;       // total from start_time to the last resumption
  std::optional<LastFailure> last_failure;
  std::vector<ExcludedNode> excluded;
  Retry retry;
  std::optional<CheckpointRecord> checkpoint;  // this and the next two: with spec.checkpoint
  std::optional<Recovery> recovery;
  std::optional<LostTime> lost;

  friend bool operator==(const JobRecord&, const JobRecord&) = default;
};

}  // namespace weft::api
