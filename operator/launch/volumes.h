#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/launch/gang.h"

namespace weft::launch {

// Mounts in every container and init container of the pod's spec
//   /etc/weft  the gang's files, read-only
//   /dev/shm   memory, unless the container mounts something there itself: a container's own 64 MB
//              are too few for NCCL's communicators and for data loaders. It holds at most half of
//              what the pod's containers may use, as tmpfs does of a machine's memory; where
//              nothing limits them, the kubelet's own bound is left.
void AddVolumes(const Gang& gang, nlohmann::json& spec);

}  // namespace weft::launch
