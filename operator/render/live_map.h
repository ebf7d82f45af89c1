#pragma once

#include <memory>
#include <vector>

#include "operator/render/map_input.h"

namespace weft::render {

// One fabric with its running workloads: TrainingJobs, Placements and gangs of other controllers
// are its jobs; lone pods are shown as held capacity.
struct LiveMap {
  std::unique_ptr<const fabric::Claims> claims;  // of the lone pods; `input` points at it
  MapInput input;
};

// One for each fabric, jobs by kind and name. Points into the cluster, whose inputs must be in
// order (decide::OrderAll).
// Cost  O(holders + nodes x tiers + ranks x axes x tiers of the running jobs).
std::vector<LiveMap> BuildLiveMaps(const decide::Cluster& cluster);

}  // namespace weft::render
