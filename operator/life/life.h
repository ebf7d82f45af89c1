#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/life/bind_window.h"
#include "operator/life/job_step.h"
#include "operator/life/job_view.h"
#include "operator/life/retry.h"
#include "operator/life/stage.h"

namespace weft::life {

// One reconcile of one job: what is known of the job, and its status with this reconcile's changes.
// The phases of a job's life (accept.h, attempt.h, ending.h) share it.
struct Life {
  Life(const JobView& job_view, const LifeOptions& life_options);

  const JobView& view;
  const LifeOptions& options;
  const api::TrainingJob& job;
  JobStatus status;

  LossTimes losses() const { return {view.now, options.node_loss_seconds}; }
};

// A reason of the condition Restarting: not all pods of an attempt could be created.
inline constexpr std::string_view kCreateRefused = "CreateRefused";

bool HasFinalizer(const api::TrainingJob& job);

// The earlier of two times; nothing means never.
std::optional<std::int64_t> Sooner(std::optional<std::int64_t> a, std::optional<std::int64_t> b);

// The pods of the current attempt; and those that are not deleted yet, of older attempts and,
// alive, of one that was taken down.
std::vector<const api::Pod*> PodsOfAttempt(const Life& life);
std::vector<const api::Pod*> StalePods(const Life& life);

// The Placement of the current attempt, or null if it is gone.
const api::Placement* PlacementOfAttempt(const Life& life);

// How many workers the current attempt has; the spec may have been changed since (made_for.h).
std::uint32_t AttemptWorkers(const Life& life);

// Seconds left of activeDeadlineSeconds, which counts from the first placement without suspended
// time. Nothing if the job has no deadline.
std::optional<std::int64_t> TimeLeft(const Life& life);

// How many seconds creating and binding the pods of the current attempt may take.
std::int64_t WindowSeconds(const Life& life);

// How long the current attempt has had nodes; nothing if its workers were never ready.
std::optional<std::int64_t> ReadySeconds(const Life& life);

// The text "7/8" in status.summary.
std::string WorkersText(const api::WorkerCounts& counts);

// Records that no attempt has nodes any more.
void Unplace(Life& life, std::string_view reason, const std::string& message);

// A write if life.status differs from the job's, else `wait`.
JobStep WriteOr(const Life& life, Wait wait);

// A reason to take an attempt down that is not a matter of failurePolicy.
struct UndoReason {
  Cause cause = Cause::kSchedulerRefused;
  std::string_view reason;  // of the condition Restarting
  std::string message;
  std::vector<std::string> nodes;  // that refused a pod
};
// Marks the attempt to be taken down; the policy of the cause decides when it is tried again
// (retry.h).
void Undo(Life& life, UndoReason why);

}  // namespace weft::life
