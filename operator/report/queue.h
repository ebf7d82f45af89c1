#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/life/waiting.h"
#include "operator/plan/plan_report.h"
#include "operator/report/half_gangs.h"
#include "operator/report/queue_row.h"

namespace weft::report {

struct QueueOptions {
  std::string space;  // only this namespace's workloads, with their positions among all; "": all
  std::int64_t reserve_after_seconds = 0;
};

// The queue in the order of the plan, then the Workloads that the plan lacks, by priority and age,
// then the PodGroups of others (waiting_groups.h). A Workload is one row, even if it asks for
// several Placements.
// `report`: of Plan with Order::kOperator and reserve_after_seconds, on this cluster, with the
// Placements that `waiting` asks for (life::AddAsked).
std::vector<QueueRow> MakeQueue(const cluster::Cluster& cluster, const plan::PlanReport& report,
                                const std::vector<life::WaitingWorkload>& waiting,
                                const QueueOptions& options);

// When the workload starts, as part of a sentence: "now", "within 3 h, when team-a/x ends",
// "unknown", ...
std::string StartText(const QueueRow& row);

// {"queue": [{"position", "namespace", "name", "kind", "fabric", "priority", "workers",
//   "accelerators", "waitedSeconds", "startsWithinSeconds", "startsAfter", "neverFits",
//   "reason", "why", "sooner": []}], "partlyStarted": HalfGangsJson}; what is unknown is left out.
nlohmann::ordered_json QueueJson(const std::vector<QueueRow>& queue,
                                 const std::vector<HalfGang>& partly_started);

}  // namespace weft::report
