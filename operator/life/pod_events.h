#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/pod.h"

namespace weft::life {

// What the kubelet says of a pod only in events: that a volume cannot be mounted, that the pod has
// no network, or that it pulls an image. Its containers stay ContainerCreating meanwhile.

// Whether the pod is bound and has no sandbox yet, or a container is due to start, and its status
// does not say why. Kubelets before 1.35 report the sandbox (condition PodReadyToStartContainers)
// only after the first image has been pulled.
bool WaitsInSilence(const api::Pod& pod);

// What events tell of a pod, in the form of Pod::waiting.
struct EventWait {
  std::string text;
  bool pulls = false;  // an image: volumes and network are there
  bool operator==(const EventWait&) const = default;
  // Whether it still counts: what kept a pod from having a sandbox is over once it has one.
  bool IsOf(const api::Pod& pod) const { return pulls || !pod.has_sandbox; }
};

// Why pods do not start, by uid, from lists of events (core/v1): the warnings, and the events that
// an image is being pulled, or has been. Pods about which they tell nothing are left out.
//   FailedMount: MountVolume.SetUp failed for volume "config" : configmap "none" not found
//   container trainer: Pulling: image registry.example/train:1 since 2026-11-28T10:00:12Z
//
// The newest of the warnings that keep a pod from starting counts; of those that name all volumes
// that are missing ("Unable to attach or mount volumes") and those that name the cause, the latter,
// if it is not much older. Warnings before an image began to be pulled are over.
// Cost  O(events log(events))
std::map<std::string, EventWait> WaitsOfEvents(const nlohmann::json& warnings,
                                               const nlohmann::json& pulls);

}  // namespace weft::life
