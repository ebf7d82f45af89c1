#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/pod.h"

namespace weft::life {

// What the kubelet says of a pod only in events: that a volume cannot be mounted, or that the pod
// has no network. Its containers stay ContainerCreating meanwhile.

// Whether the pod is bound and has not started, and its status does not say why.
bool WaitsInSilence(const api::Pod& pod);

// Why a pod does not start, from the list of its events (core/v1), in the form of Pod::waiting:
// "FailedMount: MountVolume.SetUp failed for volume "config" : configmap "none" not found". "" if
// the events tell nothing, or containers were begun since.
//
// The newest of the warnings that keep a pod from starting counts; of those that name all volumes
// that are missing ("Unable to attach or mount volumes") and those that name the cause, the latter.
// Cost  O(events)
std::string WaitOfEvents(const nlohmann::json& list);

}  // namespace weft::life
