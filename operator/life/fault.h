#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/life/life.h"

namespace weft::life {

// Why an attempt cannot go on.
struct Fault {
  Cause cause = Cause::kProgramFailed;
  std::uint32_t worker = 0;
  std::string node;
  std::string reason;   // one word: "Error", "OOMKilled", "NodeLost", "PodDeleted", "Disrupted"
  std::string message;  // a sentence that names worker and node
  std::int64_t exit_code = 0;
  UnixSeconds ended = 0;  // when the program ended; 0 if unknown
};

// The fault that explains the attempt's state best: a node that is lost or a pod that was taken
// away, else the program that ended first. `created`: every pod of the attempt existed once, so one
// that is not there is a fault.
std::optional<Fault> FindFault(const Life& life, bool created);

// Whether the kubelet rejected the pod that was bound to its node, by the pod's status.reason.
bool IsRejected(const api::Pod& pod);

// The job's answer to a fault, by failurePolicy: the attempt is to be torn down for another, when
// and on which nodes retry.h says, or the job has failed.
void Restart(Life& life, const Fault& fault);

// The condition Failed, with the time.
void Fail(JobStatus& status, std::string_view reason, std::string message, UnixSeconds now);

}  // namespace weft::life
