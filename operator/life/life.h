#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/life/bind_window.h"
#include "operator/life/next_step.h"
#include "operator/life/retry.h"
#include "operator/life/stage.h"

namespace weft::life {

// One reconcile of one job: its view, and its status as this reconcile changes it. The phases of a
// job's life (accept.h, attempt.h, ending.h) share it.
struct Life {
  Life(const JobView& job_view, const LifeOptions& life_options);

  const JobView& view;
  const LifeOptions& options;
  const api::TrainingJob& job;
  JobStatus status;

  LossTimes losses() const { return {view.now, options.node_loss_seconds}; }
};

// Reason of Restarting: the pods of an attempt could not all be created.
inline constexpr std::string_view kCreateRefused = "CreateRefused";

bool HasFinalizer(const api::TrainingJob& job);

// The sooner of two times; nothing is never.
std::optional<std::int64_t> Sooner(std::optional<std::int64_t> a, std::optional<std::int64_t> b);

// Pods of the current attempt, and those of older ones that nobody has deleted yet.
std::vector<const api::Pod*> PodsOfAttempt(const Life& life);
std::vector<const api::Pod*> StalePods(const Life& life);

// The Placement of the current attempt; null where it is gone.
const api::Placement* PlacementOfAttempt(const Life& life);

// Seconds that activeDeadlineSeconds leaves: from the first placement on, time in suspension left
// out. Nothing without one.
std::optional<std::int64_t> TimeLeft(const Life& life);

// How long the pods of the current attempt may take to be created, and to be bound.
std::int64_t WindowSeconds(const Life& life);

// "7/8" of status.summary.
std::string WorkersText(const api::WorkerCounts& counts);

// No attempt has nodes any more.
void Unplace(Life& life, std::string_view reason, const std::string& message);

// Turns the status into a step: a write if it differs from the job's, else a wait.
Step WriteOr(const Life& life, Wait wait);

// Why the attempt is taken down, if not for a restart by failurePolicy.
struct Refusal {
  Cause cause = Cause::kSchedulerRefused;
  std::string_view reason;  // of the condition Restarting
  std::string message;
  std::vector<std::string> nodes;  // that refused
};
// Marks the attempt to be taken down and tried again by the policy of the cause (retry.h).
void Undo(Life& life, Refusal refusal);

}  // namespace weft::life
