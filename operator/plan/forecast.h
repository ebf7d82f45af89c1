#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/plan/plan_report.h"

namespace weft::plan {

// When a workload of a plan is expected to start.
struct ExpectedStart {
  std::optional<std::int64_t> within_seconds;  // from now; 0 for one that the plan places
  std::string after;  // the last workload, "ns/name", that ends before it starts; "" if none
};

// The expected start of each entry of the plan: the queue is played forward from one known end of a
// job to the next. Every job ends after its expectedDurationSeconds, no workload arrives, and at
// each end the waiting workloads are tried in the order of the plan, those that have waited for
// `reserve_after_seconds` with a reservation, as the planner does. A job without
// expectedDurationSeconds keeps its nodes. A start that depends on such a job is unknown, and so is
// that of a workload that lacks pods, is invalid or never fits.
//
// `report`: of Plan on this cluster, with every entry.
// Returns one value for each entry of the report, in the same order.
// Cost    for each end that frees nodes, O(nodes) for every workload that still waits and whose
//         accelerators are free, and one search at quick effort for each start and reservation.
std::vector<ExpectedStart> ForecastStarts(const cluster::Cluster& cluster, const PlanReport& report,
                                          std::int64_t reserve_after_seconds);

}  // namespace weft::plan
