#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/simulate/run.h"
#include "operator/simulate/variation.h"

namespace weft::simulate {

// Jobs of similar size, and how long they waited.
struct SizeClass {
  std::uint32_t most_gpus = 0;  // 0: no limit
  std::size_t jobs = 0;
  double mean_wait = 0;
};

// What a policy did to the jobs of a scenario, in seconds.
struct Summary {
  DispatchRules rules;
  Variation variation;  // of the scenario; set by who made it
  double load = 0;      // Scenario::load
  std::size_t jobs = 0, finished = 0, unfinished = 0;
  std::vector<std::string> never_fit;  // under this policy
  Spread wait, completion;             // of jobs that finished; completion: from arrival to end
  // The same if jobs did not slow each other down on shared links: another run of the scenario.
  Spread contention_free_completion;
  double makespan = 0;              // from the first arrival to the last end
  double utilisation = 0;           // of all GPUs, over the makespan
  double arriving_utilisation = 0;  // the same until the last arrival; 0 if all arrive at once
  // The mean over jobs of several nodes with a predicted step: run time on their nodes over that on
  // their best nodes; and run time with other jobs on their links over that without.
  double placement_slowdown = 1, contention_slowdown = 1;
  std::vector<std::pair<std::string, double>> level_bytes;  // leaving the level's domains
  std::uint64_t events = 0;
  std::uint64_t failures = 0, restarts = 0;  // of nodes, and of jobs because of them
  double lost_share = 0;                     // of the GPU time in use: lost to restarts
  std::vector<SizeClass> sizes;              // without empty ones
  double mean_queue = 0;                     // waiting jobs, over the makespan
  Bill bill;
  std::string currency;  // of the cost
  // Joules of the building, by the prices' cooling overhead; absent without prices.
  std::optional<double> facility_joules;
  Series series;
};

// Runs the scenario, and once more without contention if there was any.
Summary Summarise(const Scenario& scenario, const RunOptions& options);

// What all summaries of a scenario are about, and they themselves: the output of `weft simulate -o
// json`. Fractions are rounded to six decimal digits, bytes to whole numbers.
nlohmann::ordered_json SummariesJson(const Scenario& scenario,
                                     const std::vector<Summary>& summaries);

}  // namespace weft::simulate
