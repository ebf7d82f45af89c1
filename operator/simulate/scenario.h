#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/simulate/job_shape.h"
#include "operator/simulate/trace.h"
#include "operator/simulate/virtual_time.h"

namespace weft::simulate {

struct Job {
  std::string name;
  std::uint32_t shape = 0;
  Micros arrival = 0;
  Micros run = 0;  // on its best placement, without contention
  std::optional<std::int64_t> expected_seconds;
  std::int64_t priority = 0;
};

// Jobs that arrive on one fabric. Read by any number of runs at once.
struct Scenario {
  const cluster::ClusterFabric* on = nullptr;
  std::deque<Shape> shapes;
  std::vector<Job> jobs;               // by arrival
  std::vector<std::string> never_fit;  // jobs that do not fit even on the empty fabric; left out
  std::vector<std::string> notes;      // sentences for a person
  double load = 0;  // GPU time of all jobs over that of all GPUs from the first to the last arrival
};

// What a user knows of a trace's run times, for reservations, backfill and the order `shortest`.
enum class Estimates : std::uint8_t {
  kExact,  // what the trace says, else the run time itself
  kNone,   // what the trace says, else nothing
};

struct ScenarioOptions {
  std::size_t fabric = 0;  // into Cluster::fabrics
  Estimates estimates = Estimates::kExact;
  double load = 0;  // arrivals are moved together or apart to this load; 0: as they are
  // Also the TrainingJobs that have ended, when they were created and for as long as they ran.
  bool past = false;
};

// The TrainingJobs of the cluster's inputs that wait for nodes on this fabric, and the jobs of the
// trace, if any. A job of a trace gets its shape from its number of GPUs (trace_shapes.h).
//
// Errors  kInvalid, starting with the job's place: no run time, a malformed annotation, or what
//         MakeProblem refuses.
// Cost    O(jobs log jobs), and one search for each shape.
Result<Scenario> MakeScenario(const cluster::Cluster& cluster, const Trace* trace,
                              const ScenarioOptions& options);

// The GPU time of the jobs over that of all GPUs, from the first to the last arrival; 0 if all
// arrive at once.
double OfferedLoad(const Scenario& scenario);

}  // namespace weft::simulate
