#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::api {

// An entry of models or capacityTypes that allows a gang to mix nodes of all of them.
inline constexpr const char* kAnyPool = "Any";

struct Accelerator {
  std::string resource_name = "nvidia.com/gpu";
  std::uint32_t per_worker = 0;  // 0: absent; decoding sets the template's limit
  // In order of preference; empty: any one product, but never mixed (fabric/pools.h).
  std::vector<std::string> models = {};
  std::vector<std::string> capacity_types = {};  // OnDemand, Spot, Any
};

}  // namespace weft::api
