#include "operator/life/fault.h"

#include <algorithm>
#include <array>
#include <utility>

#include "operator/api/names.h"
#include "operator/base/seeded_bug.h"
#include "operator/base/short_text.h"
#include "operator/base/stable_text.h"
#include "operator/framework/traits.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/completed_indexes.h"
#include "operator/life/exclusion.h"
#include "operator/life/failed_rank.h"
#include "operator/life/launcher.h"

namespace weft::life {
namespace {

// Whether the status.reason means that the node or the cluster ended the pod, not its program
// (kubelet, node life cycle controller, pod garbage collector).
bool IsTheClusters(const std::string& reason) {
  static constexpr std::array<std::string_view, 6> kReasons = {
      "Evicted", "NodeLost", "NodeShutdown", "Shutdown", "Terminated", "Preempting"};
  return std::find(kReasons.begin(), kReasons.end(), reason) != kReasons.end();
}

// Exit codes of shells (POSIX.1-2017, 2.8.2).
constexpr std::int64_t kCannotExecute = 126, kCommandNotFound = 127;

// How much of a termination message a condition has.
constexpr std::size_t kSaidBytes = 512;

bool IsNotStarted(const api::Pod::Failure& failure) {
  return !failure.message.empty() &&
         (failure.reason == "StartError" || failure.reason == "ContainerCannotRun");
}

// What the program, shell or runtime reports about the failed container.
std::string FailureText(const api::TrainingJob& job, const api::Pod::Failure& failure,
                        WorkerIndex worker) {
  if (IsNotStarted(failure)) return " could not be started: " + failure.message;
  const std::int64_t code = failure.exit_code;
  std::string text = " ended with exit code " + std::to_string(code) + " (" +
                     (failure.reason.empty() ? "Error" : failure.reason) + ")";
  if (code != kCommandNotFound && code != kCannotExecute) return text;
  const framework::Traits& traits = framework::TraitsOf(job.framework);
  if (traits.launches_by_ssh() && worker != WorkerIndex{0}) {
    return text + "; " + std::string(traits.serve_not_found);
  }
  return text + "; the command may be missing in the image, or not executable: " +
         CommandOf(job, failure.container);
}

Fault OfPod(const api::TrainingJob& job, const api::Pod& pod, WorkerIndex worker) {
  Fault fault;
  fault.worker = worker;
  fault.node = pod.node_name;
  const std::string who = "worker " + std::to_string(worker.Raw()) + " on " + pod.node_name;
  if (IsRejected(pod)) {
    fault.cause = Cause::kNodeRejected;
    fault.reason = pod.reason;
    fault.message = who + " was rejected by the kubelet (" + pod.reason + ")";
  } else if (pod.disrupted || IsTheClusters(pod.reason)) {
    fault.cause = Cause::kNodeLost;
    fault.reason = pod.reason.empty() ? "Disrupted" : pod.reason;
    fault.message = who + " was terminated by the cluster (" + fault.reason + ")";
  } else if (pod.failure) {
    fault.exit_code = pod.failure->exit_code;
    fault.ended = pod.failure->ended;
    fault.reason = pod.failure->reason.empty() ? "Error" : pod.failure->reason;
    fault.message =
        who + ": container " + pod.failure->container + FailureText(job, *pod.failure, worker);
    if (!IsNotStarted(*pod.failure)) fault.said = OneLine(pod.failure->message, kSaidBytes);
  } else {
    fault.reason = pod.reason.empty() ? "PodFailed" : pod.reason;
    fault.message = who + " failed (" + fault.reason + ")";
  }
  return fault;
}

// Whether the failed container is the launcher of all ranks, which ended by itself.
bool IsLaunchersEnd(const api::TrainingJob& job, const api::Pod::Failure& failure) {
  if (!framework::TraitsOf(job.framework).launches_by_ssh() || IsNotStarted(failure)) return false;
  if (failure.exit_code == kCannotExecute || failure.exit_code == kCommandNotFound) return false;
  return failure.reason != "OOMKilled" && failure.container == WorkerContainerOf(job);
}

// The launcher on worker 0 ends whichever rank failed. If its words name one, the fault is that
// rank's worker's.
void BlameRank(const Life& life, const std::string& words, Fault& fault) {
  fault.of_node = false;
  const auto per_worker = std::int64_t{life.job.accelerator.per_worker};
  const auto failed = FailedRank(words);
  const std::int64_t worker = failed && per_worker > 0 ? *failed / per_worker : -1;
  const api::Placement* placement = PlacementOfAttempt(life);
  if (placement == nullptr || worker < 0 || worker >= std::ssize(placement->nodes)) {
    fault.message += "; its termination message does not name the rank that failed";
    return;
  }
  fault.worker = WorkerIndex{static_cast<std::uint32_t>(worker)};
  fault.node = placement->nodes[static_cast<std::size_t>(worker)];
  fault.of_node = true;
  fault.message += "; it names rank " + std::to_string(*failed) + ", which worker " +
                   std::to_string(worker) + " on " + fault.node + " ran";
}

Fault OfFailedPod(const Life& life, const api::Pod& pod, WorkerIndex worker) {
  Fault fault = OfPod(life.job, pod, worker);
  const bool program = fault.cause == Cause::kProgramFailed && pod.failure.has_value();
  if (program && worker == WorkerIndex{0} && IsLaunchersEnd(life.job, *pod.failure)) {
    BlameRank(life, pod.failure->message, fault);
  }
  if (!fault.said.empty()) fault.message += "; it said: " + fault.said;
  return fault;
}

std::optional<Fault> OfLivePod(const Life& life, const api::Pod& pod, WorkerIndex worker) {
  const std::string who = "worker " + std::to_string(worker.Raw());
  Fault fault;
  fault.cause = Cause::kNodeLost;
  fault.worker = worker;
  fault.node = pod.node_name;
  if (!pod.node_name.empty() && IsLost(life.view.node_state(pod.node_name), life.losses())) {
    fault.reason = "NodeLost";
    fault.message = "node " + pod.node_name + " of " + who + " is lost";
    return fault;
  }
  if (!pod.meta.deleting) return std::nullopt;
  fault.reason = pod.disrupted ? "Disrupted" : "PodDeleted";
  fault.message = "the pod of " + who + " on " + pod.node_name + " is being deleted, not by Weft";
  return fault;
}

Fault OfMissingPod(WorkerIndex worker) {
  Fault fault;
  fault.cause = Cause::kNodeLost;
  fault.worker = worker;
  fault.reason = "PodDeleted";
  fault.message = "the pod of worker " + std::to_string(worker.Raw()) + " is gone";
  return fault;
}

bool IsInfrastructure(const Fault& fault) { return PolicyOf(fault.cause).infrastructure; }

// Of failed programs the first one counts: the others then fail with communication errors.
bool ComesBefore(const Fault& a, const Fault& b) {
  if (IsInfrastructure(a) != IsInfrastructure(b)) return IsInfrastructure(a);
  return a.ended != 0 && (b.ended == 0 || a.ended < b.ended);
}

bool Counts(const api::FailurePolicy& policy, const Fault& fault) {
  return !IsInfrastructure(fault) || policy.infrastructure != "RestartUncounted";
}

// Excludes nodes from the next attempts; returns a text about it.
std::string LeaveOut(Life& life, const Fault& fault) {
  api::JobRecord& record = life.status.record;
  const Leave leave = PolicyOf(fault.cause).leave;
  if (fault.node.empty() || !fault.of_node || leave == Leave::kUsed) return "";
  if (leave == Leave::kOut) {
    return DroppedText(Exclude({fault.node}, life.view.now, record.excluded));
  }
  const bool again = record.last_failure && record.last_failure->node == fault.node;
  if (!again) return "";
  return "; the next attempts avoid node " + fault.node + " if they can" +
         DroppedText(Exclude({fault.node}, life.view.now, record.excluded,
                             api::ExclusionEffect::kPreferNoSchedule));
}

// Counts the restart; returns whether another attempt follows, else the job has failed.
bool CountRestart(Life& life, const Fault& fault) {
  const api::FailurePolicy& policy = life.job.failure_policy;
  api::JobRecord& record = life.status.record;
  const UnixSeconds now = life.view.now;
  const auto ready = Since(life.status, "PodsReady");
  if (policy.reset_after_seconds && Is(life.status, "PodsReady") && ready &&
      now - *ready >= *policy.reset_after_seconds) {
    record.restarts = 0;
  }
  if (!Counts(policy, fault) || Seeded(Bug::kRestartUncounted)) return true;
  if (record.restarts < policy.max_restarts) {
    record.restarts += Seeded(Bug::kRestartTwice) ? 2 : 1;
    return true;
  }
  Fail(life.status,
       policy.max_restarts == 0 ? std::string_view(fault.reason)
                                : std::string_view("RestartsExhausted"),
       fault.message + "; failurePolicy.maxRestarts is " + std::to_string(policy.max_restarts),
       now);
  return false;
}

}  // namespace

bool IsRejected(const api::Pod& pod) {
  // k8s.io/kubernetes pkg/kubelet/lifecycle/predicate.go and cm/topologymanager.
  static constexpr std::array<std::string_view, 6> kReasons = {"UnexpectedAdmissionError",
                                                               "InvalidNodeInfo",
                                                               "TopologyAffinityError",
                                                               "NodeAffinity",
                                                               "NodeName",
                                                               "NodePorts"};
  return std::find(kReasons.begin(), kReasons.end(), pod.reason) != kReasons.end() ||
         pod.reason.starts_with("OutOf");
}

std::optional<Fault> FindFault(const Life& life, bool created) {
  const std::uint32_t workers = AttemptWorkers(life);
  ByWorker<const api::Pod*> of_worker(workers, nullptr);
  for (const api::Pod* pod : PodsOfAttempt(life)) {
    const auto worker = WorkerLabel(pod->meta);
    if (worker && *worker < of_worker.EndIndex()) of_worker[*worker] = pod;
  }
  const ByWorker<bool> succeeded = ParseIndexes(life.status.record.completed_indexes, workers);
  std::optional<Fault> first;
  const auto consider = [&](Fault fault) {
    if (!first || ComesBefore(fault, *first)) first = std::move(fault);
  };
  for (const WorkerIndex w : of_worker.Indices()) {
    const api::Pod* pod = of_worker[w];
    if (pod == nullptr) {
      const bool seen = w < life.view.seen.EndIndex() && life.view.seen[w];
      if ((created || seen) && !succeeded[w]) consider(OfMissingPod(w));
    } else if (pod->phase == api::PodPhase::kFailed) {
      consider(OfFailedPod(life, *pod, w));
    } else if (pod->phase != api::PodPhase::kSucceeded || !succeeded[w]) {
      if (auto fault = OfLivePod(life, *pod, w)) consider(*std::move(fault));
    }
  }
  return first;
}

void Fail(JobStatus& status, std::string_view reason, std::string message, UnixSeconds now) {
  SetCondition(status, {"Failed", true, reason, std::move(message)}, now);
  SetCondition(status, {"PodsReady", false, "Failed", "the job has failed"}, now);
  status.record.completion_time = FormatTime(now);
}

void Restart(Life& life, const Fault& fault) {
  JobStatus& status = life.status;
  const UnixSeconds now = life.view.now;
  std::string message = fault.message + LeaveOut(life, fault);
  status.record.last_failure = api::LastFailure{status.attempt,
                                                fault.worker.Raw(),
                                                fault.of_node ? fault.node : "",
                                                Shorten(fault.reason, api::kTextAtMost),
                                                fault.exit_code,
                                                FormatTime(now),
                                                fault.said};
  if (IsInfrastructure(fault) && life.job.failure_policy.infrastructure == "Fail") {
    return Fail(status, fault.reason, std::move(message), now);
  }
  if (!CountRestart(life, fault)) return;
  status.record.retry = NextRetry(status.record.retry,
                                  {.cause = fault.cause,
                                   .uid = life.job.meta.uid,
                                   .attempt = status.attempt,
                                   .ready_seconds = ReadySeconds(life)},
                                  now);
  message += RetryText(status.record.retry);
  SetCondition(status, {"Restarting", true, fault.reason, message}, now);
  SetCondition(status, {"PodsReady", false, "Restarting", "the gang is being taken down"}, now);
}

}  // namespace weft::life
