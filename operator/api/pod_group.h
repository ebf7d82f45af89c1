#pragma once

#include <cstdint>
#include <string>

#include "operator/api/meta.h"

namespace weft::api {

// A PodGroup of scheduling.k8s.io: kube-scheduler binds at least `min_count` of its pods at once,
// or none. A pod names its group in spec.schedulingGroup. Source
// k8s.io/api/scheduling/v1beta1, 1.37; KEP-4671.
inline constexpr const char* kSchedulingGroup = "scheduling.k8s.io";
// The API server adds it to each PodGroup, and kube-controller-manager takes it off when no pod
// that runs is in the group.
inline constexpr const char* kPodGroupFinalizer = "scheduling.k8s.io/podgroup-protection";

struct PodGroup {
  Place place;
  ObjectMeta meta;             // without annotations
  std::int64_t min_count = 0;  // 0: its pods are bound one by one
  std::string topology_key;    // spec.schedulingConstraints: all pods in one domain; "": anywhere
  // The condition PodGroupInitiallyScheduled, in kube-scheduler's words.
  bool decided = false;  // kube-scheduler has tried it at least once
  std::string message;   // why it is not bound; "" if it is
};

}  // namespace weft::api
