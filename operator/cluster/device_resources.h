#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "operator/api/inputs.h"

namespace weft::cluster {

// The resource as which the devices of DRA drivers count: one for each driver, whichever way a pod
// asks for them.
// - Of a driver that a DeviceClass with an extendedResourceName selects: that extended resource.
// - Of another driver of accelerators that Weft knows: that of the vendor's device plug-in.
// - Of a driver whose DeviceClass a job names: the resource that the class has by itself
//   (api::kClassResourcePrefix).
// - Other devices (network cards, ComputeDomain channels) are no accelerators.
// Cost  O(n log n) to build for n DeviceClasses, O(log n) per question.
class DeviceResources {
 public:
  // Of the inputs' DeviceClasses, jobs, Placements and named resources. Keeps no reference.
  explicit DeviceResources(const api::Inputs& inputs);

  // "" if the driver's devices are no accelerators.
  std::string_view OfDriver(std::string_view driver) const;
  // Of a request for the class; "" if it is unknown, or no accelerators are meant.
  std::string_view OfClass(std::string_view device_class) const;
  // The driver that the class selects; "" if unknown.
  std::string_view DriverOf(std::string_view device_class) const;
  // Whether an extended resource asks for them too: of a class that selects by driver and type
  // alone, with that type ("": any).
  struct Extended {
    std::string resource, type;
  };
  std::optional<Extended> ExtendedOf(std::string_view driver) const;
  // The type of the devices that classes without a rule of their own select; "": any.
  std::string_view TypeOf(std::string_view driver) const;

 private:
  struct Driver {
    std::string resource;
    std::optional<Extended> extended;
    std::string type;
    bool typed = false;  // an exact class was seen
  };
  struct Class {
    std::string driver;
    std::string extended;  // an accelerator's resource, or ""
  };

  std::map<std::string, Driver, std::less<>> drivers_;
  std::map<std::string, Class, std::less<>> classes_;
};

// Gives jobs and Placements that name a DeviceClass the resource as which its devices count, and
// jobs the amount of it among the requests of their pods. A second call changes nothing. A class
// that is not among the inputs keeps the resource that no node offers.
void ResolveDeviceClasses(api::Inputs& inputs);

}  // namespace weft::cluster
