#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/launch/gang.h"

namespace weft::launch {

// Mounts in every container and init container of the pod's spec
//   /etc/weft  the gang's files, read-only
//   /dev/shm   memory, unless the container mounts something there itself: a container's own 64 MB
//              are too few for NCCL's communicators and for data loaders. Its limit is half of the
//              memory limits of the pod's containers, like the default of tmpfs; without limits,
//              the kubelet's bound applies.
void AddVolumes(const Gang& gang, nlohmann::json& spec);

}  // namespace weft::launch
