#include "operator/life/life.h"

#include <algorithm>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/names.h"
#include "operator/base/check.h"
#include "operator/base/seeded_bug.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/exclusion.h"
#include "operator/life/verify.h"
#include "operator/predict/predict.h"

namespace weft::life {

Life::Life(const JobView& job_view, const LifeOptions& life_options)
    : view(job_view), options(life_options), job(*job_view.job), status(StatusOf(*job_view.job)) {
  const auto missing = [](const auto* object) { return object == nullptr; };
  WEFT_CHECK(std::none_of(view.pods.begin(), view.pods.end(), missing));
  WEFT_CHECK(std::none_of(view.placements.begin(), view.placements.end(), missing));
}

bool HasFinalizer(const api::TrainingJob& job) {
  const auto& finalizers = job.meta.finalizers;
  return std::find(finalizers.begin(), finalizers.end(), kFinalizer) != finalizers.end();
}

std::optional<std::int64_t> Sooner(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

std::vector<const api::Pod*> PodsOfAttempt(const Life& life) {
  std::vector<const api::Pod*> pods;
  for (const api::Pod* pod : life.view.pods) {
    if (AttemptLabel(pod->meta) == life.status.attempt) pods.push_back(pod);
  }
  return pods;
}

std::vector<const api::Pod*> StalePods(const Life& life) {
  std::vector<const api::Pod*> pods;
  for (const api::Pod* pod : life.view.pods) {
    const std::int64_t attempt = AttemptLabel(pod->meta).value_or(0);
    // A request may arrive after the attempt was taken down.
    const bool late = attempt == life.status.attempt && !Is(life.status, "Placed") &&
                      !pod->HasEnded() && !Seeded(Bug::kLateForgotten);
    if ((attempt < life.status.attempt || late) && !pod->meta.deleting) pods.push_back(pod);
  }
  return pods;
}

const api::Placement* PlacementOfAttempt(const Life& life) {
  for (const api::Placement* placement : life.view.placements) {
    const std::string& name = life.status.placement_name;
    if (!name.empty() && placement->meta.key.name != name) continue;  // somebody else's
    if (AttemptLabel(placement->meta) == life.status.attempt) return placement;
  }
  return nullptr;
}

std::uint32_t AttemptWorkers(const Life& life) {
  if (const api::Placement* placement = PlacementOfAttempt(life)) {
    if (!placement->nodes.empty()) return static_cast<std::uint32_t>(placement->nodes.size());
  }
  const std::int64_t recorded = life.status.record.workers.desired;
  const bool known = Is(life.status, "Placed") && recorded >= 1 && recorded <= api::kReplicas.max;
  return known ? static_cast<std::uint32_t>(recorded) : life.job.replicas;
}

std::optional<std::int64_t> TimeLeft(const Life& life) {
  const api::JobRecord& record = life.status.record;
  const auto started = ParseTime(record.start_time);
  const auto& deadline = life.job.active_deadline_seconds;
  if (!deadline || !started) return std::nullopt;
  return *started + *deadline + record.suspended_seconds - life.view.now;
}

std::int64_t WindowSeconds(const Life& life) {
  return life.options.bind_deadline_seconds + life.job.replicas / kCreatesPerSecond;
}

std::string WorkersText(const api::WorkerCounts& counts) {
  return std::to_string(counts.ready + counts.succeeded) + "/" + std::to_string(counts.desired);
}

std::optional<std::int64_t> ReadySeconds(const Life& life) {
  if (!WasReady(StageOf(life.status))) return std::nullopt;
  return life.view.now - Since(life.status, "Placed").value_or(life.view.now);
}

void Unplace(Life& life, std::string_view reason, const std::string& message) {
  JobStatus& status = life.status;
  SetCondition(status, {"Placed", false, reason, message}, life.view.now);
  SetCondition(status, {"PodsReady", false, reason, message}, life.view.now);
  std::erase_if(status.conditions, [](const auto& one) {
    return one.type == kVerified || one.type == api::kMemoryFits || one.type == api::kRestartsAlone;
  });
  status.placement_name.clear();
  status.record.summary = {};
  status.record.workers = {life.job.replicas, 0, 0, 0};
}

JobStep WriteOr(const Life& life, Wait wait) {
  if (life.status == StatusOf(life.job)) return wait;
  return WriteStatus{life.status};
}

void Undo(Life& life, UndoReason why) {
  api::JobRecord& record = life.status.record;
  if (Seeded(Bug::kRefusedNodeAgain)) why.nodes.clear();
  if (PolicyOf(why.cause).leave == Leave::kOut) {
    why.message += DroppedText(Exclude(why.nodes, life.view.now, record.excluded));
  }
  record.retry = NextRetry(record.retry,
                           {.cause = why.cause,
                            .uid = life.job.meta.uid,
                            .attempt = life.status.attempt,
                            .ready_seconds = ReadySeconds(life)},
                           life.view.now);
  why.message += RetryText(record.retry);
  SetCondition(life.status, {"Restarting", true, why.reason, why.message}, life.view.now);
  SetCondition(life.status, {"PodsReady", false, why.reason, why.message}, life.view.now);
}

}  // namespace weft::life
