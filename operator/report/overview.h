#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/timestamp.h"
#include "operator/cluster/cluster.h"
#include "operator/report/fleet.h"
#include "operator/report/half_gangs.h"

namespace weft::report {

// The fleet and its jobs at one moment.
struct Overview {
  struct FabricRow {
    std::string name;
    std::int64_t incomplete = 0;  // nodes of Fabric::incomplete()
    FleetFigures figures;
  };
  // A TrainingJob, a Placement of another controller's pods, or a Workload of Kueue that waits and
  // has no Placement.
  struct JobRow {
    api::ObjectKey key;
    std::string kind, phase;  // as in life/job_status.h; of others: Pending, Placed
    std::uint32_t workers = 0;
    std::int64_t ready = 0;                  // workers; for a Placement: workers with a node
    std::int64_t accelerators = 0;           // requested by all workers
    std::string spans, cross_node, of_best;  // as in the printer columns; "" if absent
    std::int64_t attempt = 0, restarts = 0;
    std::optional<std::int64_t> age_seconds;
    std::string reason, why;  // of the condition that says so, if the job has no nodes
  };
  std::vector<FabricRow> fabrics;
  std::vector<JobRow> jobs;   // unfinished jobs, those with nodes first; by name
  std::int64_t complete = 0;  // jobs that have ended
  std::int64_t failed = 0;
  // Accelerators of pods that belong to neither a TrainingJob nor a Placement.
  std::int64_t other_accelerators = 0;
  std::vector<HalfGang> partly_started;
};

// The overview of one namespace's jobs, or of all (`space` is "").
// Cost  like MeasureFleet, plus O(jobs log jobs).
Overview MakeOverview(const cluster::Cluster& cluster, const std::string& space, UnixSeconds now);

nlohmann::ordered_json OverviewJson(const Overview& overview);

// Each fabric as in OverviewJson, with every domain of its levels.
nlohmann::ordered_json FabricsJson(const cluster::Cluster& cluster);

}  // namespace weft::report
