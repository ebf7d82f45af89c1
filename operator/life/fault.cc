#include "operator/life/fault.h"

#include <algorithm>
#include <array>
#include <utility>

#include "operator/api/names.h"
#include "operator/base/seeded_bug.h"
#include "operator/base/short_text.h"
#include "operator/base/stable_text.h"
#include "operator/cluster/completed_indexes.h"
#include "operator/framework/traits.h"
#include "operator/life/attempt_labels.h"
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

// Whether its container has gone without an end that anyone saw: the machine or the runtime was
// started again. Words of the kubelet (k8s.io/kubernetes pkg/kubelet/kubelet_pods.go) and of
// containerd (internal/cri/server/restart.go), with exit codes 137 and 255.
bool IsGone(const api::Pod::Failure& failure) {
  return failure.reason == "ContainerStatusUnknown" ||
         (failure.reason == "Unknown" && failure.exit_code == 255);
}

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

// A check of the node in an init container: Weft's own, or one of NVSentinel
// (NVIDIA/NVSentinel, docs/configuration/preflight.md).
bool IsPreflight(const std::string& container) {
  return container == "weft-preflight" || container.starts_with("preflight-");
}

// Why the cluster took a pod away: for its node, or for another reason
// (kubernetes.io, "Pod disruption conditions").
Cause CauseOfDisruption(const api::Pod& pod) {
  static constexpr std::array<std::string_view, 6> kOfNode = {
      "NodeLost",   "NodeShutdown",           "Shutdown",
      "Terminated", "DeletionByTaintManager", "DeletionByPodGC"};
  const auto is_of_node = [](const std::string& reason) {
    return std::find(kOfNode.begin(), kOfNode.end(), reason) != kOfNode.end();
  };
  const bool lost = is_of_node(pod.reason) ||
                    std::any_of(pod.conditions.begin(), pod.conditions.end(), [&](const auto& one) {
                      return one.type == "DisruptionTarget" && is_of_node(one.reason);
                    });
  return lost ? Cause::kNodeLost : Cause::kDisrupted;
}

Fault OfPod(const api::TrainingJob& job, const api::Pod& pod, WorkerIndex worker) {
  Fault fault;
  fault.pod = &pod;
  fault.worker = worker;
  fault.node = pod.node_name;
  const std::string who = "worker " + std::to_string(worker.Raw()) + " on " + pod.node_name;
  if (IsRejected(pod)) {
    fault.cause = Cause::kNodeRejected;
    fault.reason = pod.reason;
    fault.message = who + " was rejected by the kubelet (" + pod.reason + ")";
  } else if (pod.disrupted || IsTheClusters(pod.reason)) {
    fault.cause = CauseOfDisruption(pod);
    fault.reason = pod.reason.empty() ? "Disrupted" : pod.reason;
    fault.message = who + " was terminated by the cluster (" + fault.reason + ")";
  } else if (pod.failure && IsGone(*pod.failure)) {
    fault.cause = Cause::kNodeLost;
    fault.reason = pod.failure->reason;
    fault.message = who + ": container " + pod.failure->container + " is gone (" + fault.reason +
                    "): its node or the container runtime was started again";
  } else if (pod.failure) {
    fault.exit_code = pod.failure->exit_code;
    fault.ended = pod.failure->ended;
    fault.reason = pod.failure->reason.empty() ? "Error" : pod.failure->reason;
    fault.message =
        who + ": container " + pod.failure->container + FailureText(job, *pod.failure, worker);
    if (!IsNotStarted(*pod.failure)) fault.said = OneLine(pod.failure->message, kSaidBytes);
    if (pod.failure->init && IsPreflight(pod.failure->container)) fault.cause = Cause::kNodeUnfit;
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

std::optional<Fault> OfLivePod(const Life& life, const api::Pod& pod, WorkerIndex worker) {
  const NodeState state = pod.node_name.empty() ? NodeState() : life.view.node_state(pod.node_name);
  const bool lost = IsLost(state, life.losses()), made_again = IsMadeAgain(state, pod);
  if (!lost && !made_again && !pod.meta.deleting) return std::nullopt;
  const std::string who = "worker " + std::to_string(worker.Raw());
  Fault fault;
  fault.pod = &pod;
  fault.worker = worker;
  fault.node = pod.node_name;
  fault.cause = lost || made_again ? Cause::kNodeLost : CauseOfDisruption(pod);
  if (lost) {
    fault.reason = "NodeLost";
    fault.message = "node " + pod.node_name + " of " + who + " is lost";
  } else if (made_again) {
    fault.reason = "NodeLost";
    fault.message = "node " + pod.node_name + " of " + who + " was made again at " +
                    FormatTime(state.made) + ": the pod ran on an earlier machine of that name";
  } else {
    fault.reason = pod.disrupted ? "Disrupted" : "PodDeleted";
    fault.message = "the pod of " + who + " on " + pod.node_name + " is being deleted, not by Weft";
  }
  return fault;
}

Fault OfMissingPod(const Life& life, WorkerIndex worker) {
  Fault fault;
  fault.cause = Cause::kDisrupted;
  fault.worker = worker;
  fault.reason = "PodDeleted";
  fault.message = "the pod of worker " + std::to_string(worker.Raw()) + " is gone";
  const api::Placement* placement = PlacementOfAttempt(life);
  if (placement == nullptr || worker.Raw() >= placement->nodes.size()) return fault;
  fault.node = placement->nodes[worker.Raw()];
  if (!IsLost(life.view.node_state(fault.node), life.losses())) return fault;
  fault.cause = Cause::kNodeLost;
  fault.reason = "NodeLost";
  fault.message += ", and so is its node " + fault.node;
  return fault;
}

// Of failed programs the first one counts: the others then fail with communication errors.
bool ComesBefore(const Fault& a, const Fault& b) {
  if (IsInfrastructure(a) != IsInfrastructure(b)) return IsInfrastructure(a);
  return a.ended != 0 && (b.ended == 0 || a.ended < b.ended);
}

// Whether the program ended because its pod is being deleted: by SIGTERM or SIGKILL, as a kubelet
// stops it. Who deleted the pod has not failed.
bool EndedAsDeleted(const api::Pod& pod) {
  constexpr std::int64_t kTerminated = 128 + 15, kKilled = 128 + 9;
  if (!pod.meta.deleting || !pod.failure || pod.failure->reason == "OOMKilled") return false;
  return pod.failure->exit_code == kTerminated || pod.failure->exit_code == kKilled;
}

bool EndsBefore(const api::Pod* a, const api::Pod* b) {
  const auto ended = [](const api::Pod* pod) { return pod->failure ? pod->failure->ended : 0; };
  return ended(a) < ended(b);
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

Fault OfFailedPod(const Life& life, const api::Pod& pod) {
  const WorkerIndex worker = WorkerLabel(pod.meta).value_or(WorkerIndex{0});
  Fault fault = OfPod(life.job, pod, worker);
  const bool program = fault.cause == Cause::kProgramFailed && pod.failure.has_value();
  if (program && worker == WorkerIndex{0} && IsLaunchersEnd(life.job, *pod.failure)) {
    BlameRank(life, pod.failure->message, fault);
  }
  if (!fault.said.empty()) fault.message += "; it said: " + fault.said;
  return fault;
}

Faults FindFaults(const Life& life, bool created) {
  const std::uint32_t workers = AttemptWorkers(life);
  ByWorker<const api::Pod*> of_worker(workers, nullptr);
  for (const api::Pod* pod : PodsOfAttempt(life)) {
    const auto worker = WorkerLabel(pod->meta);
    if (worker && *worker < of_worker.EndIndex()) of_worker[*worker] = pod;
  }
  const ByWorker<bool> succeeded =
      cluster::ParseIndexes(life.status.record.completed_indexes, workers);
  Faults faults;
  const auto consider = [&first = faults.first](Fault fault) {
    if (!first || ComesBefore(fault, *first)) first = std::move(fault);
  };
  for (const WorkerIndex w : of_worker.Indices()) {
    const api::Pod* pod = of_worker[w];
    if (pod == nullptr) {
      const bool seen = w < life.view.seen.EndIndex() && life.view.seen[w];
      if ((created || seen) && !succeeded[w]) consider(OfMissingPod(life, w));
    } else if (pod->phase == api::PodPhase::kFailed && !EndedAsDeleted(*pod)) {
      faults.failed.push_back(pod);
      consider(OfFailedPod(life, *pod));
    } else if (pod->phase != api::PodPhase::kSucceeded || !succeeded[w]) {
      if (auto fault = OfLivePod(life, *pod, w)) consider(*std::move(fault));
    }
  }
  std::stable_sort(faults.failed.begin(), faults.failed.end(), EndsBefore);
  return faults;
}

}  // namespace weft::life
