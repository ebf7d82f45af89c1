#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/decide/next_step.h"

namespace weft::decide {

// Why an attempt cannot go on.
struct Fault {
  bool infrastructure = false;  // the node or the cluster, not the program
  std::uint32_t worker = 0;
  std::string node;
  std::string reason;   // one word: "Error", "OOMKilled", "NodeLost", "PodDeleted", "Disrupted"
  std::string message;  // a sentence that names worker and node
  std::int64_t exit_code = 0;
};

// The fault that explains the attempt's state best: a failed container before what it caused only
// where no node is lost and no pod was taken away. `created`: every pod of the attempt existed
// once, so one that is not there is a fault.
std::optional<Fault> FindFault(const JobView& view, std::int64_t attempt, bool created,
                               const LifeOptions& options);

// Whether the pod can no longer run or come back: past its grace period on a node that is lost.
bool IsGone(const JobView& view, const api::Pod& pod, const LifeOptions& options);

// The job's answer to a fault, by failurePolicy: the attempt is to be torn down for another, or the
// job has failed. `created_at`: when the attempt's pods became ready, if they did.
void Restart(const JobView& view, const Fault& fault, JobStatus& status);

// The condition Failed, with the time.
void Fail(JobStatus& status, std::string_view reason, std::string message, UnixSeconds now);

}  // namespace weft::decide
