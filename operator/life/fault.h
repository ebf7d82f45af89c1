#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/worker_index.h"
#include "operator/life/failure_rules.h"
#include "operator/life/life.h"

namespace weft::life {

// The reason why an attempt cannot go on.
struct Fault {
  Cause cause = Cause::kProgramFailed;
  WorkerIndex worker;
  std::string node;
  std::string reason;   // one word: "Error", "OOMKilled", "NodeLost", "PodDeleted", "Disrupted"
  std::string message;  // a sentence that names worker and node
  std::string said;     // the container's termination message, on one line
  bool of_node = true;  // it happened on that node; false: nobody knows where
  std::int64_t exit_code = 0;
  UnixSeconds ended = 0;          // when the program ended; 0 if unknown
  const api::Pod* pod = nullptr;  // that shows it; null if it is gone
  std::optional<RuleMatch> rule;  // of failurePolicy, which decides what follows
};

// Exit codes of shells (POSIX.1-2017, 2.8.2).
inline constexpr std::int64_t kCannotExecute = 126, kCommandNotFound = 127;

// The reason of Failed if a rule of failurePolicy says so, as that of a Job.
inline constexpr std::string_view kPodFailurePolicy = "PodFailurePolicy";

// Whether the cluster or a node is to blame, not the program.
inline bool IsInfrastructure(const Fault& fault) { return PolicyOf(fault.cause).infrastructure; }

// What is wrong with an attempt.
struct Faults {
  // A lost node or a pod that was deleted or evicted, else the program that ended first.
  std::optional<Fault> first;
  std::vector<const api::Pod*> failed;  // the first to end comes first
};
// `created`: all pods of the attempt have existed, so a missing pod is a fault.
Faults FindFaults(const Life& life, bool created);

Fault OfFailedPod(const Life& life, const api::Pod& pod);

// Whether the kubelet rejected the pod after it was bound, by the pod's status.reason.
bool IsRejected(const api::Pod& pod);

}  // namespace weft::life
