#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/cluster/cluster.h"

namespace weft::cluster {

// The resources that count as accelerators although Weft does not know their names
// (fabric::IsAcceleratorResource), ascending, each once. Names of network cards and other devices
// ("rdma/hca") are none, whoever names them as accelerators.
struct AcceleratorNames {
  std::vector<std::string> all;
  // Those of Fabrics, DeviceClasses and settings. What only a job or a Placement names counts on
  // every fabric too, but must not change which nodes the fabrics of others have.
  std::vector<std::string> settled;

  friend bool operator==(const AcceleratorNames&, const AcceleratorNames&) = default;
};
AcceleratorNames NamedAcceleratorResources(const api::Inputs& inputs);

// Whether the name of a resource, a DRA driver or a DeviceClass says that the device is no
// accelerator: "rdma/hca", "smarter-devices/fuse", "compute-domain.nvidia.com".
bool NamesOtherDevice(std::string_view resource);

// Whether the resource is an accelerator on the cluster's fabrics.
bool IsAccelerator(const Cluster& cluster, const std::string& resource);

// How many accelerators the pod requests.
std::int64_t AcceleratorsOf(const Cluster& cluster, const api::Pod& pod);

}  // namespace weft::cluster
