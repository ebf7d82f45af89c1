#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/world/cause.h"

namespace weft::world {

// PodGroups of scheduling.k8s.io/v1beta1, and the pods that name one, as Kubernetes 1.37 sees them.

inline constexpr const char* kPodGroupResource = "podgroups.scheduling.k8s.io";
inline constexpr const char* kProtection = "scheduling.k8s.io/podgroup-protection";

// The rules of new and of changed PodGroups; of other resources there are none.
void CheckPodGroup(const std::string& resource, const nlohmann::json& object, Causes& causes);
void CheckPodGroupChange(const std::string& resource, const nlohmann::json& before,
                         const nlohmann::json& after, Causes& causes);

// The name of the pod's PodGroup, or "".
std::string GroupOf(const nlohmann::json& pod);
// Of how many pods kube-scheduler binds all or none. A group that is no gang: 1.
std::int64_t MinCountOf(const nlohmann::json& group);
// Whether its pods go together when something of higher priority needs the node of one.
bool IsDisruptedAsOne(const nlohmann::json& group);

}  // namespace weft::world
