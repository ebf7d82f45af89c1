#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/api/meta.h"
#include "operator/plan/forecast.h"

namespace weft::report {

// A workload that waits for nodes, or for the quota to get them.
struct QueueRow {
  // From 1, in the order in which the operator tries them. 0: it does not try a Workload without
  // quota, which Kueue orders, nor a PodGroup, which kube-scheduler does.
  std::size_t position = 0;
  api::ObjectKey key;
  std::string kind;    // TrainingJob, Placement; Workload: of Kueue; PodGroup: of others
  std::string fabric;  // "" if none was chosen
  std::int64_t priority = 0;
  std::uint32_t workers = 0;
  std::int64_t accelerators = 0;               // of all workers
  std::optional<std::int64_t> waited_seconds;  // unknown for manifests without a status
  plan::ExpectedStart start;
  bool never = false;               // true: waiting cannot help
  std::string reason;               // why it gets no nodes now: "InsufficientCapacity", ...
  std::string why;                  // the same in sentences; "" if it starts now
  std::vector<std::string> sooner;  // single changes that would start it now
};

}  // namespace weft::report
