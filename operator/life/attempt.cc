#include "operator/life/attempt.h"

#include <algorithm>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/base/check.h"
#include "operator/base/seeded_bug.h"
#include "operator/cluster/completed_indexes.h"
#include "operator/cluster/text.h"
#include "operator/framework/traits.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/blame.h"
#include "operator/life/fault.h"
#include "operator/life/kubelet_wait.h"
#include "operator/life/losses.h"
#include "operator/life/made_for.h"
#include "operator/life/restart.h"
#include "operator/life/restarts_alone.h"
#include "operator/life/start_telling.h"
#include "operator/life/unready_node.h"
#include "operator/life/verify.h"
#include "operator/plan/solver_crash.h"
#include "operator/predict/predict.h"

namespace weft::life {
namespace {

// How often a gang that waits for kube-scheduler checks if its nodes still exist.
constexpr std::int64_t kNodesLookedAtSeconds = 2;
// The same for a wait without a deadline.
constexpr std::int64_t kNodesLookedAtSeldomSeconds = 30;
// Least pause between writes of only status.workers: pods of a large gang start one by one.
constexpr std::int64_t kCountSeconds = 5;
// Counts from the last create. Times have whole seconds, so this is one to two seconds.
constexpr std::int64_t kSoonBoundSeconds = 2;

// Those in the status, and those that this leader has seen since it was written.
ByWorker<bool> SucceededWorkers(const Life& life) {
  ByWorker<bool> all =
      cluster::ParseIndexes(life.status.record.completed_indexes, AttemptWorkers(life));
  for (const WorkerIndex w : all.Indices()) {
    if (w < life.view.succeeded.EndIndex() && life.view.succeeded[w]) all[w] = true;
  }
  return all;
}

// The Placement of the attempt was made for another spec.
bool HasChanged(const Life& life) {
  const api::Placement* placement = PlacementOfAttempt(life);
  if (placement == nullptr) return AttemptWorkers(life) != life.job.replicas;
  return !IsMadeFor(*placement, life.job);
}

std::vector<WorkerIndex> MissingWorkers(const Life& life) {
  ByWorker<bool> there = SucceededWorkers(life);
  for (const api::Pod* pod : PodsOfAttempt(life)) {
    const auto worker = WorkerLabel(pod->meta);
    if (worker && *worker < there.EndIndex()) there[*worker] = true;
  }
  std::vector<WorkerIndex> missing;
  if (Seeded(Bug::kLastWorkerMissing) && there.size() > 1) there.back() = true;
  for (const WorkerIndex w : there.Indices()) {
    if (!there[w]) missing.push_back(w);
  }
  return missing;
}

// Whether every worker has succeeded. If one launcher starts all ranks, as in an MPI job, only
// worker 0 counts, where it runs.
bool Completed(const Life& life) {
  if (framework::TraitsOf(life.job.framework).launches_by_ssh() && !HasChanged(life)) {
    return !life.status.record.completed_indexes.empty() && SucceededWorkers(life).front();
  }
  const std::int64_t succeeded = life.status.record.workers.succeeded;
  return succeeded == AttemptWorkers(life) || (Seeded(Bug::kCompleteEarly) && succeeded > 0);
}

void CountWorkers(Life& life) {
  api::WorkerCounts& counts = life.status.record.workers;
  counts = {AttemptWorkers(life), 0, 0, 0};
  ByWorker<bool> succeeded = SucceededWorkers(life);
  for (const api::Pod* pod : PodsOfAttempt(life)) {
    const auto worker = WorkerLabel(pod->meta);
    if (pod->phase == api::PodPhase::kSucceeded) {
      if (HasSucceeded(*pod) && worker && *worker < succeeded.EndIndex()) succeeded[*worker] = true;
    } else if (pod->phase == api::PodPhase::kFailed) {
      ++counts.failed;
    } else if (pod->ready && !pod->meta.deleting) {
      ++counts.ready;
    }
  }
  counts.succeeded = std::count(succeeded.begin(), succeeded.end(), true);
  life.status.record.completed_indexes = cluster::IndexesText(succeeded);
  life.status.record.summary.workers = WorkersText(counts);
}

void Verify(Life& life) {
  const api::Placement* placement = PlacementOfAttempt(life);
  if (placement == nullptr) return;
  api::PutCondition(
      life.status.conditions,
      VerifyPlacement(life.job, placement->nodes, PodsOfAttempt(life), life.options.verify_image),
      life.view.now);
}

JobStep Complete(Life& life) {
  const UnixSeconds now = life.view.now;
  SetCondition(life.status, {"Complete", true, "Succeeded", "every worker succeeded"}, now);
  SetCondition(life.status, {"PodsReady", false, "Complete", "the job is complete"}, now);
  std::erase_if(life.status.conditions,
                [](const api::Condition& one) { return one.type == api::kRestartsAlone; });
  life.status.record.completion_time = FormatTime(now);
  return WriteStatus{life.status};
}

// Creates that fail again and again must not hold the nodes of the gang for ever. The window starts
// again with each object that is created, so a slow but steady creation goes on.
JobStep CreateWithin(Life& life, JobStep create, const char* message) {
  const UnixSeconds now = life.view.now;
  WEFT_CHECK(std::holds_alternative<CreatePods>(create) ||
             std::holds_alternative<CreateService>(create));
  const UnixSeconds created = std::min(life.view.created, now);
  const UnixSeconds since = std::max(Since(life.status, "Placed").value_or(now), created);
  if (now - since <= WindowSeconds(life)) return create;
  Undo(life, {Cause::kAdmissionRefused, kCreateRefused, message, {}});
  return WriteStatus{life.status};
}

BindVerdict JudgeGang(const Life& life, Stage stage) {
  const api::Placement* placement = PlacementOfAttempt(life);
  std::vector<GangMember> gang;
  for (const api::Pod* pod : PodsOfAttempt(life)) {
    GangMember member{.pod = pod};
    const auto worker = WorkerLabel(pod->meta);
    if (placement != nullptr && worker && worker->Raw() < placement->nodes.size()) {
      member.node = &placement->nodes[worker->Raw()];
      if (pod->node_name.empty()) member.node_exists = life.view.node_state(*member.node).exists;
    }
    gang.push_back(member);
  }
  const BindWindow window{.opened = SinceStage(life.status, Stage::kBinding),
                          .silent = stage == Stage::kSchedulerSilent,
                          .seconds = WindowSeconds(life)};
  return JudgeBinding(gang, life.view.group, window, life.view.now);
}

// Seconds left in which kube-scheduler binds most gangs; then no write is needed to open a
// window.
std::int64_t SoonLeft(const Life& life) {
  const JobView& view = life.view;
  return view.created > view.now ? 0 : view.created + kSoonBoundSeconds - view.now;
}

// Takes down a gang whose nodes nobody can say any more. Its PodGroup goes with the Placement, and
// kube-scheduler binds no pod without its group.
JobStep PlacementGoneStep(Life& life, const char* when) {
  Undo(life, {Cause::kNodeLost,
              "PlacementDeleted",
              "Placement " + life.status.placement_name + " was deleted " + when,
              {}});
  return WriteStatus{life.status};
}

// Waits until all pods are bound, and takes the gang down at the end of the window. Nothing if all
// are bound.
std::optional<JobStep> BindStep(Life& life, Stage stage) {
  BindVerdict verdict = JudgeGang(life, stage);
  if (Seeded(Bug::kBindDeadlineIgnored) && verdict.binding != Binding::kDone) return Wait{};
  if (verdict.binding != Binding::kDone && PlacementOfAttempt(life) == nullptr) {
    // The news of Placements may come later than that of pods.
    if (const std::int64_t soon = SoonLeft(life); soon > 0) return Wait{soon};
    return PlacementGoneStep(life, "before all pods were bound");
  }
  const Wait seldom{Sooner(TimeLeft(life), kNodesLookedAtSeldomSeconds)};
  switch (verdict.binding) {
    case Binding::kDone:
      return std::nullopt;
    case Binding::kOpen:
      if (const std::int64_t soon = SoonLeft(life); soon > 0) return Wait{soon};
      OpenBinding(life.status, life.view.now);
      return WriteStatus{life.status};
    case Binding::kWait:
      return Wait{Sooner(TimeLeft(life), std::min(verdict.seconds, kNodesLookedAtSeconds))};
    case Binding::kGated:
      SetStage(life.status, Stage::kSchedulingGated, std::move(verdict.message), life.view.now);
      return WriteOr(life, seldom);
    case Binding::kSilent:
      SetStage(life.status, Stage::kSchedulerSilent, std::move(verdict.message), life.view.now);
      return WriteOr(life, seldom);
    case Binding::kUndo:
      break;
  }
  const bool refused = verdict.cause == Cause::kSchedulerRefused;
  Undo(life, {verdict.cause, refused ? "BindRefused" : "SchedulerSilent",
              std::move(verdict.message), std::move(verdict.refused)});
  return WriteStatus{life.status};
}

// The first worker that is not ready, and what its containers report, such as a missing launcher or
// image. An image that is still being pulled says least.
Fault NotReady(const Life& life) {
  Fault fault;
  fault.cause = Cause::kNotReady;
  fault.reason = "StartupTimeout";
  std::string why = "; no container reports why";
  const api::Pod* first = nullptr;
  for (const api::Pod* pod : PodsOfAttempt(life)) {
    if (pod->ready || pod->phase == api::PodPhase::kSucceeded) continue;
    if (first == nullptr || WeightOfWait(*pod) > WeightOfWait(*first)) first = pod;
  }
  if (first != nullptr) {
    fault.worker = WorkerLabel(first->meta).value_or(WorkerIndex{0});
    fault.node = first->node_name;
    if (!first->waiting.empty()) {
      why = "; worker " + std::to_string(fault.worker.Raw()) + " on " + fault.node + ": " +
            first->waiting;
    }
  }
  fault.message = "not every worker was ready within startupTimeoutSeconds" + why;
  return fault;
}

// Seconds left to become ready, from the placement on, without the time that kube-scheduler took
// beyond its window.
std::int64_t StartupLeft(const Life& life) {
  const UnixSeconds now = life.view.now;
  const UnixSeconds placed = Since(life.status, "Placed").value_or(now);
  const UnixSeconds bound = SinceStage(life.status, Stage::kStarting).value_or(placed);
  return std::max(placed, bound - WindowSeconds(life)) + life.job.startup_timeout_seconds - now;
}

JobStep ReadyStep(Life& life, Stage stage) {
  const JobStatus before = StatusOf(life.job);
  const api::WorkerCounts& counts = life.status.record.workers;
  const auto unready = FirstUnready(PodsOfAttempt(life), life.view.node_state, life.options);
  std::optional<std::int64_t> left = TimeLeft(life);
  if (unready) left = Sooner(left, unready->lost - life.view.now);
  if (!life.view.service) left = Sooner(left, life.view.service_pause);
  if (counts.ready + counts.succeeded == counts.desired) {
    SetStage(life.status, Stage::kAllReady, "every worker is ready", life.view.now);
  } else if (WasReady(stage)) {
    SetStage(life.status, Stage::kNotAllReady,
             unready ? UnreadyText(*unready) : "some workers are not ready", life.view.now);
  } else {
    if (const auto again = TellStart(life)) left = Sooner(left, *again);
    const std::int64_t startup = StartupLeft(life);
    if (startup <= 0) {
      Restart(life, NotReady(life));
      return WriteStatus{life.status};
    }
    left = Sooner(left, startup);
  }
  if (life.status.conditions != before.conditions) return WriteStatus{life.status};
  const std::int64_t due = life.view.counted + kCountSeconds - life.view.now;
  if (due > 0 && life.status != before) return Wait{Sooner(left, due)};
  return WriteOr(life, Wait{left});
}

// The job fails unless a node turns out to be lost, since then the program only died of that.
JobStep AwaitBlameStep(Life& life, const Fault& fault, std::int64_t seconds) {
  const JobStatus before = StatusOf(life.job);
  if (!AwaitsBlame(life)) {
    NoteFailure(life, fault);
    const Stage stage = StageOf(life.status);
    SetStage(life.status, WasReady(stage) ? Stage::kNotAllReady : stage,
             fault.message + "; the job fails at " + FormatTime(life.view.now + seconds) +
                 " unless a node of its workers turns out to be lost or broken",
             life.view.now);
  }
  const Wait wait{Sooner(TimeLeft(life), seconds)};
  const bool told = life.status.conditions == before.conditions &&
                    life.status.record.last_failure == before.record.last_failure;
  const std::int64_t due = life.view.counted + kCountSeconds - life.view.now;
  if (told && due > 0 && life.status != before) return Wait{Sooner(wait.seconds, due)};
  return WriteOr(life, wait);
}

// Only a suspended job may change what its attempt depends on, and this one has been.
JobStep SpecChangedStep(Life& life) {
  const std::string attempt = "attempt " + std::to_string(life.status.attempt);
  const std::uint32_t workers = AttemptWorkers(life);
  std::string message =
      "the spec was changed while the job was suspended, which " + attempt + " did not see";
  if (workers != life.job.replicas) {
    message = "spec.workers.replicas is " + std::to_string(life.job.replicas) + ", " + attempt +
              " has " + CountText(workers, "worker");
  }
  Undo(life, {Cause::kSpecChanged, "SpecChanged", std::move(message), {}});
  return WriteStatus{life.status};
}

// Takes the warning over from the Placement; a job that is predicted to fit has no such condition.
void WarnOfMemory(const api::Placement& placement, JobStatus& status, UnixSeconds now) {
  const auto* fits = api::FindCondition(placement.conditions, api::kMemoryFits);
  if (fits != nullptr && fits->status == "False") {
    return SetCondition(status, {api::kMemoryFits, false, fits->reason, fits->message}, now);
  }
  std::erase_if(status.conditions,
                [](const api::Condition& one) { return one.type == api::kMemoryFits; });
}

}  // namespace

JobStep PlaceStep(Life& life) {
  const std::int64_t left = RetryLeft(life.status.record.retry, life.view.now);
  WEFT_CHECK(!Is(life.status, "Placed"));  // one attempt at a time has nodes
  if (left > 0) return WriteOr(life, Wait{Sooner(TimeLeft(life), left)});
  if (!life.view.refusal) return RequestPlacement{};
  if (Seeded(Bug::kMuteRefusal)) return Wait{};
  SetCondition(life.status,
               {"Placed", false, life.view.refusal->reason, life.view.refusal->message},
               life.view.now);
  life.status.record.workers.desired = life.job.replicas;
  return WriteOr(life, Wait{TimeLeft(life)});
}

const api::Placement* NextPlacement(const Life& life) {
  const api::Placement* next = nullptr;
  for (const api::Placement* placement : life.view.placements) {
    const auto number = AttemptLabel(placement->meta);
    if (!number || *number <= life.status.attempt || placement->nodes.empty()) continue;
    if (placement->meta.deleting) continue;
    if (next == nullptr || *number < AttemptLabel(next->meta)) next = placement;
  }
  return next;
}

std::string PlacedText(const std::string& name, const api::Placement* placement) {
  const api::Condition* placed =
      placement == nullptr ? nullptr : api::FindCondition(placement->conditions, "Placed");
  return placed != nullptr ? placed->message : "see Placement " + name;
}

JobStep AdoptStep(Life& life, const api::Placement& placement) {
  const auto attempt = AttemptLabel(placement.meta);
  WEFT_CHECK(attempt && *attempt > life.status.attempt && !placement.nodes.empty());
  JobStatus& status = life.status;
  const UnixSeconds now = life.view.now;
  status.attempt = *attempt;
  status.placement_name = placement.meta.key.name;
  if (status.record.start_time.empty()) status.record.start_time = FormatTime(now);
  SetCondition(status, {"Placed", true, "Placed", PlacedText(placement.meta.key.name, &placement)},
               now);
  WarnOfMemory(placement, status, now);
  std::erase_if(status.conditions,
                [&](const api::Condition& one) {  // of an earlier spec or version
                  if (one.type == api::kSolverFailed) return one.status == "True";
                  return one.type == api::kFiguresFailed &&
                         one.observed_generation != life.job.meta.generation;
                });
  SetStage(status, Stage::kCreating, "the pods are being created", now);
  Summarise(placement, status.record.summary);
  status.record.workers = {static_cast<std::int64_t>(placement.nodes.size()), 0, 0, 0};
  status.record.completed_indexes.clear();
  status.record.summary.workers = WorkersText(status.record.workers);
  return WriteStatus{status};
}

std::optional<JobStep> CompleteStep(Life& life) {
  if (!Is(life.status, "Placed") || Is(life.status, "Restarting")) return std::nullopt;
  CountWorkers(life);
  if (!Completed(life)) return std::nullopt;
  return Complete(life);
}

JobStep FollowStep(Life& life) {
  WEFT_CHECK(Is(life.status, "Placed") && !Is(life.status, "Restarting"));
  const Stage stage = StageOf(life.status);
  const bool creating = stage == Stage::kCreating;
  CountWorkers(life);
  NoteProgress(life);
  WarnOfRestartsAlone(life);
  Verify(life);
  if (Completed(life)) return Complete(life);
  if (const auto fault = FindFault(life, !creating)) {
    // Somebody has suspended it, put it right and resumed it before that was seen.
    if (EndsJob(life, *fault) && HasChanged(life)) return SpecChangedStep(life);
    const auto left = ExhaustsRestarts(life, *fault) ? BlameLeft(life, *fault) : std::nullopt;
    if (left) return AwaitBlameStep(life, *fault, *left);
    Restart(life, *fault);
    return WriteStatus{life.status};
  }
  const api::Placement* placement = PlacementOfAttempt(life);
  if (creating && placement != nullptr && placement->nodes.size() < placement->workers) {
    Undo(life, {Cause::kAdmissionRefused,
                kCreateRefused,
                "Placement " + placement->meta.key.name + " names " +
                    CountText(static_cast<std::int64_t>(placement->nodes.size()), "node") +
                    " for " + std::to_string(placement->workers) + " workers",
                {}});
    return WriteStatus{life.status};
  }
  if (HasChanged(life)) return SpecChangedStep(life);
  if (auto missing = MissingWorkers(life); !missing.empty()) {
    // Nobody can say any more which nodes the missing pods are for. FindFault knows of pods that
    // go missing later.
    if (placement == nullptr && Seeded(Bug::kPlacementAwaited)) return Wait{};
    if (placement == nullptr) return PlacementGoneStep(life, "while pods were being created");
    return CreateWithin(life, CreatePods{life.status.attempt, std::move(missing)},
                        "not all pods could be created in time");
  }
  // The Service is created after the pods, so that its endpoints are written once and not for every
  // few pods.
  if (!life.view.service) {
    if (creating) {
      return CreateWithin(life, CreateService{}, "the job's Service could not be created in time");
    }
    if (life.view.service_pause == 0) return CreateService{};
  }
  if (auto step = BindStep(life, stage)) return *std::move(step);
  return ReadyStep(life, stage);
}

JobStatus AfterCreateRefused(const JobView& view, const LifeOptions& options,
                             const std::string& message) {
  Life life(view, options);
  CountWorkers(life);
  Undo(life, {Cause::kAdmissionRefused, kCreateRefused, message, {}});
  CountStep(life, life.status);
  return life.status;
}

}  // namespace weft::life
