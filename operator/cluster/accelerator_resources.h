#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/cluster/cluster.h"

namespace weft::cluster {

// The resources that TrainingJobs, Placements or Fabrics name and that Weft does not know by name
// (fabric::IsAcceleratorResource), ascending, each once. They are accelerators on every fabric.
std::vector<std::string> NamedAcceleratorResources(const api::Inputs& inputs);

// Whether the resource is an accelerator on the cluster's fabrics.
bool IsAccelerator(const Cluster& cluster, const std::string& resource);

// How many accelerators the pod requests.
std::int64_t AcceleratorsOf(const Cluster& cluster, const api::Pod& pod);

}  // namespace weft::cluster
