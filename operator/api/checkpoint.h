#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/base/timestamp.h"

namespace weft::api {

// Annotations of a TrainingJob or of its worker 0's pod, which the program writes: when and after
// which step its last checkpoint was complete, and when the first step after a start was done.
// Times are RFC 3339.
inline constexpr const char* kLastCheckpointTime = "weft.dev/last-checkpoint-time";
inline constexpr const char* kLastCheckpointStep = "weft.dev/last-checkpoint-step";
inline constexpr const char* kFirstStepTime = "weft.dev/first-step-time";

// spec.checkpoint: with it Weft counts the time that failures cost.
struct CheckpointSpec {
  std::optional<std::int64_t> interval_seconds;  // a checkpoint at least this often
  std::int64_t stall_seconds = 60;               // for which one stops the training
};

// status.checkpoint.
struct CheckpointRecord {
  std::optional<UnixSeconds> last_time;
  std::optional<std::int64_t> last_step;
  std::optional<std::int64_t> advised_interval_seconds;

  friend bool operator==(const CheckpointRecord&, const CheckpointRecord&) = default;
};

// How far a job is on its way from a failure to its next step; kRecoveryPhaseNames (names.h).
enum class RecoveryPhase : std::uint8_t {
  kDetecting,  // a worker failed; who is to blame is not known yet
  kStopping,   // the attempt is taken down
  kReplacing,  // waits for nodes, for pods and for kube-scheduler
  kStarting,   // every pod has its node, not every worker is ready
  kLoading,    // every worker is ready; no step is known to be done
};

// status.recovery: of a failure; absent while the job trains.
struct Recovery {
  std::string cause;  // life/retry.h
  std::int64_t worker = 0;
  std::string node;
  UnixSeconds since = 0;  // the failure
  RecoveryPhase phase = RecoveryPhase::kDetecting;

  friend bool operator==(const Recovery&, const Recovery&) = default;
};

// status.lost: what became of the time since all workers were ready first, in seconds. Of each
// second exactly one member tells (life/ledger.h).
struct LostTime {
  std::int64_t kept = 0;  // of training, in a checkpoint
  std::int64_t work = 0;  // of training after the last checkpoint before a failure or a stop
  std::int64_t detect = 0, replace = 0, start = 0, load = 0;  // from a failure to the next step
  std::int64_t failures = 0;
  bool exact = true;                 // false: a loss was counted without any checkpoint
  std::optional<UnixSeconds> until;  // all before is counted; nothing while the job is stopped

  std::int64_t down() const { return detect + replace + start + load; }
  std::int64_t wall() const { return kept + work + down(); }

  friend bool operator==(const LostTime&, const LostTime&) = default;
};

}  // namespace weft::api
