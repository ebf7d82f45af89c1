#pragma once

#include <cstddef>
#include <vector>

#include "operator/render/map_input.h"
#include "operator/simulate/run.h"

namespace weft::render {

// The fleet of a simulation at one time.
struct FleetMap {
  double seconds = 0;
  MapInput input;  // its jobs: those that run, by their start
  std::size_t waiting = 0;
  double longest_wait = 0;  // of those that wait, in seconds
};

// The fleet as it was at that time, events of that moment included. Points into the scenario.
// Cost  O(events + nodes x tiers + ranks x axes x tiers of the running jobs).
FleetMap MapAt(const simulate::Scenario& scenario, const std::vector<simulate::Event>& events,
               double seconds);

// A time worth looking at: when jobs with the most GPUs wait; if none ever waits, when the most
// GPUs are in use.
double BusiestSeconds(const simulate::Series& series);

}  // namespace weft::render
