#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/sample.h"
#include "operator/base/timestamp.h"
#include "operator/outlook/prices.h"

namespace weft::report {

// What namespaces and queues used over a time, from Prometheus' samples of weft_usage_accelerators,
// weft_lost_accelerator_seconds_total, weft_fabric_accelerators and of the chart's rule for DCGM's
// samples.

// The time of a report, and how often Prometheus is asked to look at the samples of gauges.
struct Period {
  UnixSeconds until = 0;
  std::int64_t seconds = 0;
  // The longest of: a minute, the period / 2016 (5 minutes of a week). Prometheus reads the
  // samples of all series at each step, and refuses more than 50 million by default.
  std::int64_t Step() const;
};

enum class UsageQuery : std::uint8_t { kAllocated, kStranded, kBusy, kLost, kFleet, kCovered };
inline constexpr std::size_t kUsageQueries = 6;

// The query in PromQL, to be asked at period.until.
// `match`: more label matchers for every series, such as cluster="east"; "": none.
std::string QueryText(UsageQuery query, const Period& period, const std::string& match);

// The answers to the queries, by UsageQuery.
using UsageAnswers = std::array<std::vector<Sample>, kUsageQueries>;

// Accelerator-hours of one namespace and queue.
struct TeamUsage {
  std::string space, queue;  // the LocalQueue of Kueue; "" without one
  double allocated = 0;      // held by pods, or kept for them
  // Hours in which DCGM saw the GPUs busy; absent if it has no samples of them.
  std::optional<double> busy;
  double stranded = 0;         // free beside the team's pods, on nodes used in part (usage.h)
  double lost = 0;             // of attempts of TrainingJobs that were taken down
  std::optional<double> cost;  // of what was allocated; absent without a price
};

struct UsageReport {
  Period period;
  std::string space;                          // the namespace whose teams these are; "": all
  std::int64_t covered_seconds = 0;           // of which Prometheus has samples
  double all = 0, free = 0, unavailable = 0;  // accelerator-hours of the fleet
  std::vector<TeamUsage> teams;               // most allocated first
  TeamUsage total;                            // of the teams shown
  std::string currency;                       // "" without prices
  std::vector<std::string> unpriced;          // products without a price
};

// `space`: only this namespace's teams; "": all. `prices`: null: without costs. Without samples
// (covered_seconds is 0) there are no teams.
UsageReport MakeUsageReport(const UsageAnswers& answers, const Period& period,
                            const std::string& space, const outlook::Prices* prices);

// {"since", "until", "coveredSeconds", "fleet": {"acceleratorHours", "freeHours",
//   "unavailableHours"}, "teams": [{"namespace", "queue", "allocatedHours", "busyHours",
//   "strandedHours", "lostHours", "cost"}], "total": {...}, "currency", "unpriced": []}; what is
// unknown is left out: without samples, everything but the times and the empty list of teams.
nlohmann::ordered_json UsageJson(const UsageReport& report);

}  // namespace weft::report
