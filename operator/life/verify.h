#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/pod.h"
#include "operator/api/training_job.h"
#include "operator/base/worker_index.h"

namespace weft::life {

inline constexpr const char* kVerified = "PlacementVerified";

// The report of a pod in its termination messages (api::Pod::report):
//   "weft host <host> node <node> worker <i>"   the init container weft-verify; all parts optional
//   "weft rank <r> of <world>"                  from a rank: `weft verify --rank`, or a script
struct PodReport {
  std::string host, node;  // "" if absent
  std::optional<WorkerIndex> worker;
  std::vector<std::pair<std::int64_t, std::int64_t>> ranks;  // rank and world

  friend bool operator==(const PodReport&, const PodReport&) = default;
};
PodReport ReadReport(const std::string& text);

// Whether rank `rank` of `world` ranks may run on the worker. A job has one rank for each
// accelerator, or one rank for each worker.
bool IsRankOf(const api::TrainingJob& job, WorkerIndex worker, std::int64_t rank,
              std::int64_t world);

// The condition PlacementVerified of an attempt, without its time. True: RanksMatch (every rank has
// reported from its planned worker) or HostsMatch (every worker has reported). False, for the first
// worker that differs: NodeMismatch, HostMismatch or RankMismatch. Unknown: Waiting, or
// NoVerifyImage if the operator injects no container that reports. `nodes`: of the attempt's
// Placement; `pods`: of the attempt.
// Cost  O(pods + ranks).
api::Condition VerifyPlacement(const api::TrainingJob& job, const std::vector<std::string>& nodes,
                               const std::vector<const api::Pod*>& pods, bool verify_image);

}  // namespace weft::life
