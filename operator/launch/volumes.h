#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/launch/gang.h"

namespace weft::launch {

// Mounts in every container and init container of the pod's spec
//   /etc/weft  the gang's files, read-only
//   /dev/shm   a memory volume, unless the container mounts one itself: the default of 64 MB is too
//              small for NCCL's communicators and for data loaders. Its size limit is half of the
//              memory limits of the pod's containers, as tmpfs does by default; without limits, the
//              kubelet's limit applies.
void AddVolumes(const Gang& gang, nlohmann::json& spec);

}  // namespace weft::launch
