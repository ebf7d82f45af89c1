#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/inputs.h"

namespace weft::cluster {

// The resource as which the devices of DRA drivers count: one for each driver, whichever way a pod
// asks for them.
// - Of a driver that a DeviceClass with an extendedResourceName selects: that extended resource; of
//   several such classes, that of the device's product.
// - Of another driver of accelerators that Weft knows: that of the vendor's device plug-in.
// - Of a driver whose DeviceClass a job names: the resource that the class has by itself
//   (api::kClassResourcePrefix).
// - Other devices (network cards, ComputeDomain channels) are no accelerators.
// Cost  O(n log n) to build for n DeviceClasses, O(log n) per question.
class DeviceResources {
 public:
  // Of the inputs' DeviceClasses, jobs, Placements and named resources. Keeps no reference.
  explicit DeviceResources(const api::Inputs& inputs);

  // Whether the driver's devices are accelerators.
  bool KnowsDriver(std::string_view driver) const { return drivers_.contains(driver); }
  // Of devices of the product ("": several, or unknown); "" if they are no accelerators.
  std::string_view OfDevices(std::string_view driver, std::string_view product) const;
  // Of a request for the class; "" if it is unknown, or no accelerators are meant, or those of a
  // type that is not counted (parts of the devices that are).
  std::string_view OfClass(std::string_view device_class) const;
  // The driver that the class selects; "" if unknown.
  std::string_view DriverOf(std::string_view device_class) const;
  // Whether an extended resource asks for them too: of a class that says nothing but driver, type
  // and product.
  bool IsExtended(std::string_view driver, std::string_view product) const;
  // The type of the devices that count; "": any.
  std::string_view TypeOf(std::string_view driver) const;

 private:
  struct Class {
    std::string driver, type, product;
    std::string extended;  // an accelerator's resource, or ""
    bool exact = false;
  };
  struct Driver {
    std::string resource;  // where no class with an extended resource says another
    std::vector<Class> extended;
    std::string type;
    bool typed = false;  // an exact class was seen
  };
  const Class* ExtendedOf(std::string_view driver, std::string_view product) const;

  std::map<std::string, Driver, std::less<>> drivers_;
  std::map<std::string, Class, std::less<>> classes_;
};

// Whether Weft knows the driver's devices as accelerators without a DeviceClass.
bool IsKnownDriver(std::string_view driver);

// Gives jobs and Placements that name a DeviceClass the resource as which its devices count, and
// jobs the amount of it among the requests of their pods. A second call changes nothing. A class
// that is not among the inputs keeps the resource that no node offers.
void ResolveDeviceClasses(api::Inputs& inputs);

}  // namespace weft::cluster
