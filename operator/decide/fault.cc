#include "operator/decide/fault.h"

#include <algorithm>
#include <array>
#include <utility>

#include "operator/api/names.h"
#include "operator/base/seeded_bug.h"
#include "operator/base/short_text.h"
#include "operator/decide/launcher.h"

namespace weft::decide {
namespace {

bool IsLost(const NodeState& state, UnixSeconds now, const LifeOptions& options) {
  return !state.exists ||
         (state.not_ready_since && now - *state.not_ready_since >= options.node_loss_seconds);
}

// status.reason of pods that the node or the cluster ended, not their program (kubelet, node
// life cycle controller, pod garbage collector).
bool IsTheClusters(const std::string& reason) {
  static constexpr std::array<std::string_view, 8> kReasons = {
      "Evicted",    "NodeLost",     "NodeShutdown", "Shutdown",
      "Terminated", "NodeAffinity", "Preempting",   "UnexpectedAdmissionError"};
  return std::find(kReasons.begin(), kReasons.end(), reason) != kReasons.end() ||
         reason.starts_with("OutOf");
}

// Exit codes of shells (POSIX.1-2017, 2.8.2).
constexpr std::int64_t kCannotExecute = 126, kCommandNotFound = 127;

Fault OfPod(const api::TrainingJob& job, const api::Pod& pod, std::uint32_t worker) {
  Fault fault;
  fault.worker = worker;
  fault.node = pod.node_name;
  fault.infrastructure = pod.disrupted || IsTheClusters(pod.reason);
  const std::string who = "worker " + std::to_string(worker) + " on " + pod.node_name;
  if (fault.infrastructure) {
    fault.reason = pod.reason.empty() ? "Disrupted" : pod.reason;
    fault.message = who + " was ended by the cluster (" + fault.reason + ")";
  } else if (pod.failure) {
    fault.exit_code = pod.failure->exit_code;
    fault.reason = pod.failure->reason.empty() ? "Error" : pod.failure->reason;
    const std::string container = who + ": container " + pod.failure->container;
    fault.message = container + " ended with exit code " + std::to_string(fault.exit_code) + " (" +
                    fault.reason + ")";
    if (!pod.failure->message.empty()) {
      fault.message = container + " could not be started: " + pod.failure->message;
    } else if (fault.exit_code == kCommandNotFound || fault.exit_code == kCannotExecute) {
      const bool serves_mpi = job.framework.type == api::FrameworkType::kMPI && worker != 0;
      fault.message +=
          serves_mpi
              ? ", as of an image without sshd, which mpirun of worker 0 needs"
              : ", as of a shell that does not find its command or may not run it; the command "
                "is: " +
                    CommandOf(job, pod.failure->container);
    }
  } else {
    fault.reason = pod.reason.empty() ? "PodFailed" : pod.reason;
    fault.message = who + " failed (" + fault.reason + ")";
  }
  return fault;
}

std::optional<Fault> OfLivePod(const JobView& view, const api::Pod& pod, std::uint32_t worker,
                               const LifeOptions& options) {
  const std::string who = "worker " + std::to_string(worker);
  if (!pod.node_name.empty() && IsLost(view.node_state(pod.node_name), view.now, options)) {
    return Fault{true,
                 worker,
                 pod.node_name,
                 "NodeLost",
                 "node " + pod.node_name + " of " + who + " is lost",
                 0};
  }
  if (!pod.meta.deleting) return std::nullopt;
  const std::string reason = pod.disrupted ? "Disrupted" : "PodDeleted";
  return Fault{true,
               worker,
               pod.node_name,
               reason,
               "the pod of " + who + " on " + pod.node_name + " is being deleted by others",
               0};
}

bool Counts(const api::FailurePolicy& policy, const Fault& fault) {
  return !fault.infrastructure || policy.infrastructure != "RestartUncounted";
}

}  // namespace

std::optional<Fault> FindFault(const JobView& view, std::int64_t attempt, bool created,
                               const LifeOptions& options) {
  const std::uint32_t workers = view.job->replicas;
  std::vector<const api::Pod*> of_worker(workers, nullptr);
  for (const api::Pod* pod : view.pods) {
    const auto worker = WorkerLabel(pod->meta);
    if (AttemptLabel(pod->meta) == attempt && worker && *worker < workers) of_worker[*worker] = pod;
  }
  std::optional<Fault> first;
  const auto consider = [&](Fault fault) {
    if (!first || (fault.infrastructure && !first->infrastructure)) first = std::move(fault);
  };
  for (std::uint32_t w = 0; w < workers; ++w) {
    const api::Pod* pod = of_worker[w];
    if (pod == nullptr) {
      if (!created) continue;
      consider(
          {true, w, "", "PodDeleted", "the pod of worker " + std::to_string(w) + " is gone", 0});
    } else if (pod->phase == "Failed") {
      consider(OfPod(*view.job, *pod, w));
    } else if (pod->phase != "Succeeded") {
      if (auto fault = OfLivePod(view, *pod, w, options)) consider(*std::move(fault));
    }
  }
  return first;
}

bool IsGone(const JobView& view, const api::Pod& pod, const LifeOptions& options) {
  if (!pod.meta.deleting || pod.node_name.empty()) return false;
  const auto ends = ParseTime(pod.meta.deletion_timestamp);
  return ends && view.now >= *ends && IsLost(view.node_state(pod.node_name), view.now, options);
}

void Fail(JobStatus& status, std::string_view reason, std::string message, UnixSeconds now) {
  SetCondition(status, {"Failed", true, reason, std::move(message)}, now);
  SetCondition(status, {"PodsReady", false, "Failed", "the job has failed"}, now);
  status.record.completion_time = FormatTime(now);
}

void Restart(const JobView& view, const Fault& fault, JobStatus& status) {
  const api::FailurePolicy& policy = view.job->failure_policy;
  status.record.last_failure = api::LastFailure{
      status.attempt,  fault.worker,        fault.node, Shorten(fault.reason, api::kTextAtMost),
      fault.exit_code, FormatTime(view.now)};
  if (fault.infrastructure && policy.infrastructure == "Fail") {
    return Fail(status, fault.reason, fault.message, view.now);
  }
  const auto ready = Since(status, "PodsReady");
  if (policy.reset_after_seconds && Is(status, "PodsReady") && ready &&
      view.now - *ready >= *policy.reset_after_seconds) {
    status.record.restarts = 0;
  }
  if (Counts(policy, fault) && !Seeded(Bug::kRestartUncounted)) {
    if (status.record.restarts >= policy.max_restarts) {
      const std::string most = std::to_string(policy.max_restarts);
      return Fail(status,
                  policy.max_restarts == 0 ? std::string_view(fault.reason)
                                           : std::string_view("RestartsExhausted"),
                  fault.message + "; failurePolicy.maxRestarts is " + most, view.now);
    }
    ++status.record.restarts;
  }
  SetCondition(status, {"Restarting", true, fault.reason, fault.message}, view.now);
  SetCondition(status, {"PodsReady", false, "Restarting", "the gang is being taken down"},
               view.now);
}

}  // namespace weft::decide
