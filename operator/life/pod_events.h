#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/pod.h"

namespace weft::life {

// What the kubelet says of a pod only in events: that a volume cannot be mounted, or that the pod
// has no network. Its containers stay ContainerCreating meanwhile.

// Whether the pod is bound and has no sandbox yet, and its status does not say why. A pod that
// pulls its image has one (condition PodReadyToStartContainers).
bool WaitsInSilence(const api::Pod& pod);

// Why pods do not start, by uid, from a list of events (core/v1), in the form of Pod::waiting:
// "FailedMount: MountVolume.SetUp failed for volume "config" : configmap "none" not found". Pods
// about which the events tell nothing are left out.
//
// The newest of the warnings that keep a pod from starting counts; of those that name all volumes
// that are missing ("Unable to attach or mount volumes") and those that name the cause, the latter,
// if it is not much older.
// Cost  O(events log(pods))
std::map<std::string, std::string> WaitsOfEvents(const nlohmann::json& list);

}  // namespace weft::life
