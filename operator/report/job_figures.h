#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/placement.h"
#include "operator/api/training_job.h"
#include "operator/base/timestamp.h"
#include "operator/life/job_status.h"

namespace weft::report {

// Numbers from a Placement's status; absent if the status lacks them.
struct TrafficFigures {
  struct Flow {
    std::string axis, level;
    std::int64_t bytes = 0;
  };
  struct Span {
    std::string level;
    std::int64_t domains = 0;
  };
  std::vector<Flow> flows;
  std::vector<Span> spans;
  std::optional<std::int64_t> cross_node_bytes, best_cross_node_bytes;
  std::optional<std::int64_t> cost_over_bound_percent;
  std::optional<std::int64_t> communication_milliseconds;
};
TrafficFigures ReadTraffic(const api::Placement& placement);

// Numbers from status.outlook of a Placement; absent if the status lacks them.
struct OutlookFigures {
  std::optional<std::int64_t> step_milliseconds, tokens_per_second, mfu_percent;
  std::optional<std::int64_t> watts, accelerator_watts;
  std::optional<std::int64_t> memory_bytes, memory_capacity;  // of one GPU
  std::optional<double> cost_per_hour;
  std::string currency;
};
OutlookFigures ReadOutlook(const api::Placement& placement);

// Whether the job waits for nodes: it has none and is not finished, suspended or being deleted.
bool WantsNodes(const api::TrainingJob& job);

// When a job without nodes began to wait: at its creation, or at the end of its last attempt or
// suspension.
UnixSeconds WaitsSince(const api::TrainingJob& job, UnixSeconds now);

// "1", "2", "4", ...: the number of workers, rounded up to a power of two.
std::string SizeClass(std::uint32_t workers);

// The events that one write of a job's status implies, for the counters.
struct JobEvents {
  struct Start {
    std::string cause;  // "Submitted", "Resumed", or why the last attempt was taken down
    double wait_seconds = 0;
  };
  struct Loss {
    std::string cause;
    bool before_bound = false;       // the gang was never bound as a whole
    double accelerator_seconds = 0;  // since the attempt was placed
  };
  std::optional<Start> start;          // an attempt got nodes
  std::optional<Loss> loss;            // an attempt is taken down
  std::optional<double> bind_seconds;  // the whole gang is bound
  std::string ended, end_reason;       // "Complete" or "Failed", and why; "" if neither

  friend bool operator==(const JobEvents&, const JobEvents&);
};
JobEvents EventsOf(const api::TrainingJob& before, const life::JobStatus& after, UnixSeconds now);

}  // namespace weft::report
