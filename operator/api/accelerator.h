#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::api {

// An entry of models or capacityTypes that allows a gang to mix nodes of all of them.
inline constexpr const char* kAnyPool = "Any";

// The extended resource that every DeviceClass has by itself (KEP-5004), before the class's name.
inline constexpr std::string_view kClassResourcePrefix = "deviceclass.resource.kubernetes.io/";

// The claim of a pod for the devices of its job's DeviceClass.
inline constexpr const char* kAcceleratorClaim = "accelerators";

struct Accelerator {
  std::string resource_name = "nvidia.com/gpu";
  std::uint32_t per_worker = 0;  // 0: absent; decoding sets the template's limit
  // In order of preference; empty: any one product, but never mixed (fabric/pools.h).
  std::vector<std::string> models = {};
  std::vector<std::string> capacity_types = {};  // OnDemand, Spot, Any
  // The DeviceClass of which each worker claims perWorker devices; "": an extended resource. With
  // it resource_name is kClassResourcePrefix + device_class until cluster::ResolveDeviceClasses.
  std::string device_class = {};
};

}  // namespace weft::api
