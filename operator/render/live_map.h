#pragma once

#include <memory>
#include <vector>

#include "operator/render/map_input.h"

namespace weft::render {

// One fabric with its running workloads. Its jobs are TrainingJobs, Placements and gangs of other
// controllers; other pods are shown as capacity in use.
struct LiveMap {
  std::unique_ptr<const fabric::Claims> claims;  // of pods in no gang; `input` points at it
  MapInput input;
};

// One map for each fabric, with its jobs by kind and name. The result points into the cluster,
// whose inputs must be in order (cluster::OrderAll).
// Cost  O(holders + nodes x tiers + ranks x axes x tiers of the running jobs).
std::vector<LiveMap> BuildLiveMaps(const cluster::Cluster& cluster);

}  // namespace weft::render
