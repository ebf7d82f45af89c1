#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/simulate/virtual_time.h"

namespace weft::simulate {

// One job of a trace.
struct TraceJob {
  std::string name;
  Micros arrival = 0;  // since the first job of the trace
  Micros run = 0;      // what the job took once it had started
  std::uint32_t gpus = 0;
  std::optional<std::int64_t> expected_seconds;  // what its user had said; absent: nothing
  std::int64_t priority = 0;
};

struct Trace {
  std::vector<TraceJob> jobs;   // by arrival, then line
  std::size_t without_gpu = 0;  // lines of jobs that used no GPU; they are left out
  std::size_t not_ended = 0;    // lines of jobs whose end is unknown; they are left out
};

// The formats that ReadTrace (read_trace.h) knows, by the names that users write:
//
//   philly  columns timestamp, duration, num_gpus and, for the names, cluster
//   helios  job_id, arrival_s, service_sec, gpu_count; or gpu_num, submit_time, duration
//   acme    job_id, gpu_num, submit_time, duration; or cluster, metric, gpus_le, cdf_pct, the
//           published shares of jobs and GPU time by size, from which jobs are drawn
//   sacct   `sacct --parsable2 -X -o JobID,Submit,Start,End,ElapsedRaw,AllocTRES,TimelimitRaw`;
//           also Elapsed for ElapsedRaw, ReqTRES for AllocTRES, and Timelimit for TimelimitRaw
//   weft    job, arrivalSeconds, runSeconds, gpus; optionally expectedSeconds and priority
//
// The first line names the columns, in any order; further columns are ignored.
inline constexpr std::string_view kTraceFormats[] = {"philly", "helios", "acme", "sacct", "weft"};

struct TraceText {
  std::string source;  // for messages: the file's name
  std::string_view text;
  std::string format;         // of kTraceFormats
  std::string part;           // only the jobs of this virtual cluster; "": all
  std::size_t jobs = 10'000;  // to draw from published shares
  std::uint64_t seed = 1;     // of the draw
};

}  // namespace weft::simulate
