#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/decide/forecast.h"
#include "operator/decide/plan.h"

namespace weft::report {

// A workload that waits for nodes.
struct QueueRow {
  std::size_t position = 0;  // from 1, in the order in which the operator tries them
  api::ObjectKey key;
  std::string kind;    // TrainingJob, Placement
  std::string fabric;  // "" if none was chosen
  std::int64_t priority = 0;
  std::uint32_t workers = 0;
  std::int64_t accelerators = 0;               // of all workers
  std::optional<std::int64_t> waited_seconds;  // unknown for manifests without a status
  decide::ExpectedStart start;
  bool never = false;               // true: waiting cannot help
  std::string reason;               // why it gets no nodes now: "InsufficientCapacity", ...
  std::string why;                  // the same in sentences; "" if it starts now
  std::vector<std::string> sooner;  // single changes that would start it now
};

// The queue in the order of the plan. `space`: only this namespace's workloads, with their
// positions among all; "": all.
// `report`: of Plan with Order::kOperator and reserve_after_seconds, on this cluster.
std::vector<QueueRow> MakeQueue(const decide::Cluster& cluster, const decide::PlanReport& report,
                                const std::string& space, std::int64_t reserve_after_seconds);

// When the workload starts, as part of a sentence: "now", "within 3 h, when team-a/x ends",
// "unknown", ...
std::string StartText(const QueueRow& row);

// {"queue": [{"position", "namespace", "name", "kind", "fabric", "priority", "workers",
//   "accelerators", "waitedSeconds", "startsWithinSeconds", "startsAfter", "neverFits",
//   "reason", "why", "sooner": []}]}; what is unknown is left out.
nlohmann::ordered_json QueueJson(const std::vector<QueueRow>& queue);

}  // namespace weft::report
