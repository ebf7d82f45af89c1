#pragma once

#include <cstdint>
#include <string>

#include "tests/world/api_server.h"

namespace weft::world {

// Which servers have the feature gate GenericWorkload, that PodGroups need in all of them.
struct Gates {
  bool served = false;  // the API server serves PodGroups
  ApiServer::GroupGate server = ApiServer::GroupGate::kOn;
  bool scheduler = true;
  bool controllers = true;  // kube-controller-manager

  bool AllOn() const;
};

// 0: by the seed: all on in half of the days; in a quarter PodGroups are not served; in a quarter
// one of the three servers lacks the gate. 1: all on. 2: not served. 3 to 5: the API server,
// kube-scheduler or kube-controller-manager lacks it.
inline constexpr std::uint64_t kMostGates = 5;
Gates GatesOf(std::uint64_t choice, std::uint64_t seed);

// "all servers know PodGroups", "kube-scheduler ignores PodGroups".
std::string Show(const Gates& gates);

}  // namespace weft::world
