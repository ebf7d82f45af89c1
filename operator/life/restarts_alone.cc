#include "operator/life/restarts_alone.h"

#include "operator/api/conditions.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/launcher.h"

namespace weft::life {
namespace {

constexpr std::string_view kAdvice =
    "its peers are not started again with it; without restarts of its own the pod fails, and "
    "failurePolicy starts the whole gang again";

// The first worker whose container was started again. Without counts, which would make a write of
// every restart.
std::string Happened(const Life& life, const std::string& container) {
  for (const api::Pod* pod : PodsOfAttempt(life)) {
    for (const api::Pod::Restarted& one : pod->restarted) {
      if (one.container != container || pod->HasEnded()) continue;
      const std::uint32_t worker = WorkerLabel(pod->meta).value_or(WorkerIndex{0}).Raw();
      return "the kubelet has started container " + container + " of worker " +
             std::to_string(worker) + " on " + pod->node_name + " again";
    }
  }
  return "";
}

}  // namespace

void WarnOfRestartsAlone(Life& life) {
  const std::string container = WorkerContainerOf(life.job);
  std::string message = Happened(life, container);
  const std::string policy = OwnRestartPolicyOf(life.job);
  std::string_view reason = "ContainerRestarted";
  if (message.empty() && !policy.empty()) {
    reason = "OwnRestartPolicy";
    message = "container " + container + " has " + policy +
              ", by which the kubelet starts it again by itself";
  }
  if (message.empty()) {
    std::erase_if(life.status.conditions,
                  [](const api::Condition& one) { return one.type == api::kRestartsAlone; });
    return;
  }
  message += "; ";
  message += kAdvice;
  SetCondition(life.status, {api::kRestartsAlone, true, reason, message}, life.view.now);
}

}  // namespace weft::life
