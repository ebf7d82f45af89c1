#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "operator/simulate/dispatcher.h"
#include "operator/simulate/faults.h"
#include "operator/simulate/figures.h"
#include "operator/simulate/scenario.h"

namespace weft::simulate {

struct RunOptions {
  DispatchRules rules;
  // Whether jobs slow each other down on shared uplinks (contention.h). Where a job is placed
  // counts in any case.
  bool contention = true;
  FaultOptions faults;
  // Called every few thousand events, for progress; may be null.
  std::function<void(std::size_t finished, std::size_t jobs)> progress;
};

// What happened to one job.
struct JobRecord {
  Micros start = -1, end = -1;  // -1: never
  // Of the last attempt: its time with other jobs on its links over that without.
  double contention_slowdown = 1;
  double placement_slowdown = 1;  // run time on its nodes over that on its best ones
};

struct Outcome {
  std::vector<JobRecord> jobs;               // by Scenario::jobs
  std::vector<std::string> never_fit;        // jobs that this policy cannot place at all
  std::size_t unfinished = 0;                // jobs that still wait when nothing runs any more
  std::uint64_t events = 0;                  // arrivals, completions, faults and returns of nodes
  std::uint64_t failures = 0, restarts = 0;  // of nodes, and of jobs because of them
  double lost_gpu_seconds = 0;               // work done twice, and time to start again
  bool contended = false;                    // a job was slowed down by another one
  double arriving_gpu_seconds = 0;           // used until the last arrival
  std::vector<double> level_bytes;           // by tier: bytes that left its domains, over all jobs
  Series series;
};

// Runs the scenario to its end on a virtual clock. The scenario and the options determine the
// outcome.
// Cost  the dispatcher's passes, and O(log jobs) for each event.
Outcome Run(const Scenario& scenario, const RunOptions& options);

// One job's start, for a comparison with the operator, in the order of decisions.
struct Decision {
  Micros time = 0;
  JobIndex job = 0;
  std::vector<fabric::NodeIndex> nodes;
};
// Run, with every decision.
Outcome Run(const Scenario& scenario, const RunOptions& options, std::vector<Decision>& decisions);

}  // namespace weft::simulate
