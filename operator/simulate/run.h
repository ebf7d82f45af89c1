#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/simulate/dispatcher.h"
#include "operator/simulate/faults.h"
#include "operator/simulate/figures.h"
#include "operator/simulate/meter.h"
#include "operator/simulate/scenario.h"

namespace weft::simulate {

// What happens in a run.
enum class EventKind : std::uint8_t {
  kArrive,   // a job joins the queue
  kStart,    // it gets its nodes
  kEnd,      // it has finished
  kRestart,  // a node of it is lost: it joins the queue again
  kLose,     // a node fails, or the cloud takes it away
  kCordon,   // a node takes no more jobs
  kReturn,   // a node takes jobs again
};
std::string_view EventName(EventKind kind);  // "arrive", "start", ... as users read it

struct Event {
  Micros time = 0;
  EventKind kind = EventKind::kArrive;
  JobIndex job = 0;  // unless it is about a node
  // kStart: the node of each worker; of an event about a node: this node; else none.
  std::vector<fabric::NodeIndex> nodes = {};
};

struct RunOptions {
  DispatchRules rules;
  // Whether jobs slow each other down on shared uplinks (contention.h). Where a job is placed
  // counts in any case.
  bool contention = true;
  FaultOptions faults;
  const outlook::Prices* prices = nullptr;  // null: no costs
  // Called every few thousand events, for progress; may be null.
  std::function<void(std::size_t finished, std::size_t jobs)> progress;
  // Called for every event in order, decisions of one pass in the order in which they were made;
  // may be null.
  std::function<void(Event&&)> observe;
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
  fabric::ByTier<double> level_bytes;        // by tier: bytes that left its domains, over all jobs
  Bill bill;
  Series series;
};

// Runs the scenario to its end on a virtual clock. The scenario and the options determine the
// outcome.
// Cost  the dispatcher's passes, and O(log jobs) for each event.
Outcome Run(const Scenario& scenario, const RunOptions& options);

}  // namespace weft::simulate
