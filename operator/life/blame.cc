#include "operator/life/blame.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/seeded_bug.h"
#include "operator/life/attempt_labels.h"

namespace weft::life {
namespace {

bool IsInWindow(UnixSeconds since, UnixSeconds time) {
  return since >= time - kBlameBeforeSeconds && since <= time + kBlameAfterSeconds;
}

struct Suspect {
  const api::Pod* pod = nullptr;
  UnixSeconds since = 0;
  std::string condition;  // "": its node is not Ready
};

void Consider(const Suspect& one, UnixSeconds time, std::optional<Suspect>& first) {
  if (IsInWindow(one.since, time) && (!first || one.since < first->since)) first = one;
}

std::optional<Suspect> FirstSuspect(const Life& life, UnixSeconds time) {
  std::optional<Suspect> first;
  for (const api::Pod* pod : PodsOfAttempt(life)) {
    if (pod->node_name.empty()) continue;
    const NodeState state = life.view.node_state(pod->node_name);
    if (state.not_ready_since && !pod->HasEnded()) {
      const UnixSeconds told = state.unready_since;
      Consider({pod, told != 0 ? told : *state.not_ready_since, ""}, time, first);
    }
    if (!state.fault.empty()) Consider({pod, state.fault_since, state.fault}, time, first);
  }
  return first;
}

// A failure that no node's loss explains.
bool SpeaksForItself(const Fault& fault) {
  return fault.rule || fault.exit_code == kCommandNotFound || fault.exit_code == kCannotExecute ||
         fault.reason == "OOMKilled" || fault.reason == "StartError" ||
         fault.reason == "ContainerCannotRun";
}

// `program`: what failed at that time, for the message.
std::optional<Fault> BlameNode(const Life& life, UnixSeconds time, const std::string& program) {
  const auto suspect = FirstSuspect(life, time);
  if (!suspect || Seeded(Bug::kPeersBlamed)) return std::nullopt;
  const api::Pod& pod = *suspect->pod;
  Fault fault;
  fault.worker = WorkerLabel(pod.meta).value_or(WorkerIndex{0});
  fault.node = pod.node_name;
  const std::string node =
      "node " + pod.node_name + " of worker " + std::to_string(fault.worker.Raw());
  const std::string since = FormatTime(suspect->since);
  if (suspect->condition.empty()) {
    fault.cause = Cause::kNodeLost;
    fault.reason = "NodeLost";
    fault.message = node + " is not Ready since " + since;
  } else {
    fault.cause = Cause::kNodeFault;
    fault.reason = suspect->condition.substr(0, suspect->condition.find('='));
    fault.message = node + " has the condition " + suspect->condition + " since " + since;
  }
  fault.message += ", which explains that " + program;
  return fault;
}

void ApplyRules(const Life& life, const Faults& faults, Fault& fault) {
  const api::Pod* blamed = nullptr;
  for (const api::Pod* pod : PodsOfAttempt(life)) {
    if (WorkerLabel(pod->meta) == fault.worker) blamed = pod;
  }
  // The programs die of a node or of the cluster, whatever they say.
  const std::vector<const api::Pod*> none;
  auto rule = MatchRule(life.job.failure_policy.rules,
                        IsInfrastructure(fault) ? none : faults.failed, blamed);
  if (!rule) return;
  if (rule->pod != blamed) fault = OfFailedPod(life, *rule->pod);
  fault.rule = std::move(rule);
}

}  // namespace

std::optional<Fault> FindFault(const Life& life, bool created) {
  Faults faults = FindFaults(life, created);
  if (!faults.first) return std::nullopt;
  Fault fault = *std::move(faults.first);
  if (fault.cause == Cause::kProgramFailed) {
    const UnixSeconds time = fault.ended != 0 ? fault.ended : life.view.now;
    if (auto node = BlameNode(life, time, fault.message)) fault = *std::move(node);
  }
  ApplyRules(life, faults, fault);
  return fault;
}

std::optional<std::int64_t> BlameLeft(const Life& life, const Fault& fault) {
  if (fault.cause != Cause::kProgramFailed || fault.ended == 0 || SpeaksForItself(fault)) {
    return std::nullopt;
  }
  const auto pods = PodsOfAttempt(life);
  const bool all_ended =
      std::all_of(pods.begin(), pods.end(), [](const api::Pod* pod) { return pod->HasEnded(); });
  // An operator that is told to give nodes up sooner waits less for news of them.
  const std::int64_t window = std::min(kBlameAfterSeconds, life.options.node_loss_seconds);
  const std::int64_t left = fault.ended + window - life.view.now;
  if (all_ended || left <= 0 || left > window + kClockSkewSeconds) return std::nullopt;
  return left;
}

std::optional<Fault> BlameLate(const Life& life) {
  const auto& last = life.status.record.last_failure;
  if (!last || last->attempt != life.status.attempt ||
      last->cause != CauseName(Cause::kProgramFailed) ||
      life.job.failure_policy.infrastructure == "Fail") {
    return std::nullopt;
  }
  const auto time = ParseTime(last->time);
  if (!time) return std::nullopt;
  return BlameNode(life, *time,
                   "worker " + std::to_string(last->worker) + " failed (" + last->reason + ")");
}

}  // namespace weft::life
