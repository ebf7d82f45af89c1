#include "operator/life/blame.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/seeded_bug.h"
#include "operator/life/attempt_labels.h"

namespace weft::life {
namespace {

struct Suspect {
  const api::Pod* pod = nullptr;
  UnixSeconds since = 0;
  std::string condition;  // "": its node is lost
};

// The first node, by time, whose failure explains that of a program.
class Suspects {
 public:
  Suspects(const Life& life, UnixSeconds time) : life_(life), time_(time) {}

  std::optional<Suspect> First() {
    for (const api::Pod* pod : PodsOfAttempt(life_)) {
      if (pod->node_name.empty() || pod->phase == api::PodPhase::kSucceeded) continue;
      const NodeState state = life_.view.node_state(pod->node_name);
      LookAtLoss(*pod, state);
      for (const NodeState::Fault& fault : state.faults) {
        if (fault.since >= time_ - kBlameBeforeSeconds && fault.since <= Latest()) {
          Consider({pod, fault.since, fault.condition});
        }
      }
    }
    return first_;
  }

 private:
  UnixSeconds Latest() const {
    return time_ + std::max(kBlameAfterSeconds, life_.options.node_news_seconds);
  }

  // A node on which a worker still runs and that has been silent for long is lost all the same.
  void LookAtLoss(const api::Pod& pod, const NodeState& state) {
    if (pod.HasEnded()) return;
    if (!state.exists) {
      if (life_.view.now <= Latest()) Consider({&pod, life_.view.now, ""});
    } else if (state.not_ready_since) {
      const UnixSeconds told = state.unready_since;
      const UnixSeconds since = told != 0 ? told : *state.not_ready_since;
      if (since <= Latest()) Consider({&pod, since, ""});
    }
  }

  void Consider(Suspect one) {
    if (!first_ || one.since < first_->since) first_ = std::move(one);
  }

  const Life& life_;
  const UnixSeconds time_;
  std::optional<Suspect> first_;
};

// A failure that no node's loss explains.
bool SpeaksForItself(const Fault& fault) {
  return fault.exit_code == kCommandNotFound || fault.exit_code == kCannotExecute ||
         fault.reason == "OOMKilled" || fault.reason == "StartError" ||
         fault.reason == "ContainerCannotRun";
}

// A fatal condition of a node twice in a row is the program's doing: a program can cause XIDs, on
// one node after the other.
bool IsOfNodeAgain(const Life& life) {
  const auto& last = life.status.record.last_failure;
  const auto ready = ReadySeconds(life);
  const bool lasted = ready && *ready >= PolicyOf(Cause::kProgramFailed).lasting_seconds;
  return last && last->attempt + 1 == life.status.attempt && !lasted &&
         last->cause == CauseName(Cause::kNodeFault);
}

// `program`: what failed at that time, for the message. `again`: not the first failure in a row
// whose node has a fatal condition.
std::optional<Fault> BlameNode(const Life& life, UnixSeconds time, const std::string& program,
                               bool again) {
  const auto suspect = Suspects(life, time).First();
  if (!suspect || Seeded(Bug::kPeersBlamed)) return std::nullopt;
  const api::Pod& pod = *suspect->pod;
  Fault fault;
  fault.pod = &pod;
  fault.worker = WorkerLabel(pod.meta).value_or(WorkerIndex{0});
  fault.node = pod.node_name;
  const std::string node =
      "node " + pod.node_name + " of worker " + std::to_string(fault.worker.Raw());
  const std::string since = FormatTime(suspect->since);
  if (suspect->condition.empty()) {
    fault.cause = Cause::kNodeLost;
    fault.reason = "NodeLost";
    fault.message = node + " is lost since " + since;
  } else if (again) {
    return std::nullopt;
  } else {
    fault.cause = Cause::kNodeFault;
    fault.reason = suspect->condition.substr(0, suspect->condition.find('='));
    fault.message = node + " has the condition " + suspect->condition + " since " + since;
  }
  fault.message += ", so it is to blame, although " + program;
  return fault;
}

std::string FailedText(const api::LastFailure& last) {
  return "worker " + std::to_string(last.worker) + " failed (" + last.reason +
         (last.exit_code != 0 ? ", exit code " + std::to_string(last.exit_code) : "") + ")";
}

// The failure that waits for its judgement, as status.lastFailure has it.
Fault Awaiting(const api::LastFailure& last) {
  Fault fault;
  fault.worker = WorkerIndex{static_cast<std::uint32_t>(last.worker)};
  fault.node = last.node;
  fault.of_node = !last.node.empty();
  fault.reason = last.reason;
  fault.exit_code = last.exit_code;
  fault.said = last.message;
  fault.ended = ParseTime(last.time).value_or(0);
  fault.message = FailedText(last);
  return fault;
}

void ApplyRules(const Life& life, const Faults& faults, Fault& fault) {
  // The programs die of a node or of the cluster, whatever they say.
  const std::vector<const api::Pod*> none;
  auto rule = MatchRule(life.job.failure_policy.rules,
                        IsInfrastructure(fault) ? none : faults.failed, fault.pod);
  if (!rule) return;
  if (rule->pod != fault.pod) fault = OfFailedPod(life, *rule->pod);
  fault.rule = std::move(rule);
}

}  // namespace

bool AwaitsBlame(const Life& life) {
  const auto& last = life.status.record.last_failure;
  return last && last->attempt == life.status.attempt && Is(life.status, "Placed") &&
         !Is(life.status, "Restarting") && !Is(life.status, "Failed") &&
         last->cause == CauseName(Cause::kProgramFailed);
}

std::optional<Fault> FindFault(const Life& life, bool created) {
  Faults faults = FindFaults(life, created);
  const bool awaits = AwaitsBlame(life);
  if (!faults.first && !awaits) return std::nullopt;
  const bool other =
      !faults.first || (IsInfrastructure(*faults.first) && faults.first->cause != Cause::kNodeLost);
  Fault fault =
      awaits && other ? Awaiting(*life.status.record.last_failure) : *std::move(faults.first);
  if (fault.cause == Cause::kProgramFailed && !SpeaksForItself(fault)) {
    const UnixSeconds time = fault.ended != 0 ? fault.ended : life.view.now;
    const std::string program =
        fault.message.substr(0, fault.message.find("; "));  // without its last words
    if (auto node = BlameNode(life, time, program, IsOfNodeAgain(life))) {
      fault = *std::move(node);
    }
  }
  ApplyRules(life, faults, fault);
  return fault;
}

std::optional<std::int64_t> BlameLeft(const Life& life, const Fault& fault) {
  // Only then the loss of a node would not end the job too.
  const bool of_use = life.job.failure_policy.infrastructure == "RestartUncounted";
  if (fault.cause != Cause::kProgramFailed || fault.rule || SpeaksForItself(fault) || !of_use) {
    return std::nullopt;
  }
  bool may_tell = !fault.node.empty() && life.view.node_state(fault.node).monitored;
  std::uint32_t bound = 0;
  for (const api::Pod* pod : PodsOfAttempt(life)) {
    if (!pod->node_name.empty()) ++bound;
    if (!pod->HasEnded()) may_tell = true;
  }
  // A gang that is not whole is not held any longer.
  if (!may_tell || bound < AttemptWorkers(life)) return std::nullopt;
  const auto seen = AwaitsBlame(life) ? ParseTime(life.status.record.last_failure->time)
                                      : std::optional(life.view.now);
  const std::int64_t window = life.options.node_news_seconds;
  const std::int64_t left = seen.value_or(0) + window - life.view.now;
  return left > 0 && left <= window + kClockSkewSeconds ? std::optional(left) : std::nullopt;
}

std::optional<Fault> BlameLate(const Life& life) {
  const auto& last = life.status.record.last_failure;
  // An older version of the operator leaves the members of another failure beside its own.
  static constexpr std::string_view kOfNode[] = {"NodeLost", "PodDeleted", "Disrupted", "Evicted"};
  if (!last || last->attempt != life.status.attempt || !last->counted ||
      last->cause != CauseName(Cause::kProgramFailed) ||
      std::find(std::begin(kOfNode), std::end(kOfNode), last->reason) != std::end(kOfNode) ||
      life.job.failure_policy.infrastructure != "RestartUncounted") {
    return std::nullopt;
  }
  const auto time = ParseTime(last->time);
  if (!time || SpeaksForItself(Awaiting(*last))) return std::nullopt;
  // Of the failure before nothing is left but that there was one.
  const bool again = life.status.record.retry.times > 1;
  return BlameNode(life, *time, FailedText(*last), again);
}

}  // namespace weft::life
