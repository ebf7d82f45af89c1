#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/base/worker_index.h"
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
  UnixSeconds ended = 0;  // when the program ended; 0 if unknown
};

// The fault that best explains the attempt's state: a lost node or a pod that was deleted or
// evicted, else the program that ended first. `created`: all pods of the attempt have existed, so a
// missing pod is a fault.
std::optional<Fault> FindFault(const Life& life, bool created);

// Whether the kubelet rejected the pod after it was bound, by the pod's status.reason.
bool IsRejected(const api::Pod& pod);

// Applies failurePolicy to a fault: either the attempt is taken down for another one (retry.h says
// when and on which nodes), or the job fails.
void Restart(Life& life, const Fault& fault);

// Sets the condition Failed with its time.
void Fail(JobStatus& status, std::string_view reason, std::string message, UnixSeconds now);

}  // namespace weft::life
