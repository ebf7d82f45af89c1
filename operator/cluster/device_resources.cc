#include "operator/cluster/device_resources.h"

#include <algorithm>
#include <set>
#include <vector>

#include "operator/cluster/accelerator_resources.h"

namespace weft::cluster {
namespace {

// Drivers of accelerators, and the resource of the same vendor's device plug-in.
constexpr std::pair<std::string_view, std::string_view> kDrivers[] = {
    {"gpu.nvidia.com", "nvidia.com/gpu"},  {"gpu.amd.com", "amd.com/gpu"},
    {"gpu.intel.com", "gpu.intel.com/xe"}, {"gaudi.intel.com", "habana.ai/gaudi"},
    {"tpu.google.com", "google.com/tpu"},
};

std::set<std::string> NamedClasses(const api::Inputs& inputs) {
  std::set<std::string> names;
  for (const std::string& resource : inputs.accelerator_resources) {
    if (!resource.starts_with(api::kClassResourcePrefix)) continue;
    names.insert(resource.substr(api::kClassResourcePrefix.size()));
  }
  for (const api::TrainingJob& job : inputs.jobs) names.insert(job.accelerator.device_class);
  for (const api::Placement& one : inputs.placements) names.insert(one.accelerator.device_class);
  return names;
}

// By name, so that which class stands for a driver does not depend on the order of the inputs.
std::vector<const api::DeviceClass*> ByName(const std::vector<api::DeviceClass>& classes) {
  std::vector<const api::DeviceClass*> sorted;
  for (const api::DeviceClass& one : classes) sorted.push_back(&one);
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return a->meta.key.name < b->meta.key.name; });
  return sorted;
}

}  // namespace

DeviceResources::DeviceResources(const api::Inputs& inputs) {
  for (const auto& [driver, resource] : kDrivers) drivers_[std::string(driver)].resource = resource;
  const std::set<std::string> named = NamedClasses(inputs);
  for (const api::DeviceClass* one : ByName(inputs.device_classes)) {
    const std::string& resource = one->extended_resource;
    const bool accelerators = !resource.empty() && !NamesOtherDevice(resource);
    const Class made{one->driver, one->type, one->product, accelerators ? resource : "",
                     one->exact};
    classes_[one->meta.key.name] = made;
    if (one->driver.empty()) continue;
    const bool meant = named.contains(one->meta.key.name) && !NamesOtherDevice(one->driver) &&
                       !NamesOtherDevice(one->meta.key.name);
    if (!accelerators && !meant && !drivers_.contains(one->driver)) continue;
    Driver& driver = drivers_[one->driver];
    if (accelerators) driver.extended.push_back(made);
    if (driver.resource.empty()) {
      driver.resource = std::string(api::kClassResourcePrefix) + one->meta.key.name;
    }
    if (!one->exact || driver.typed) continue;
    driver.type = one->type;
    driver.typed = true;
  }
}

const DeviceResources::Class* DeviceResources::ExtendedOf(std::string_view driver,
                                                          std::string_view product) const {
  const auto found = drivers_.find(driver);
  if (found == drivers_.end()) return nullptr;
  const std::vector<Class>& all = found->second.extended;
  for (const Class& one : all) {
    if (one.exact && (one.product.empty() || one.product == product)) return &one;
  }
  return all.empty() ? nullptr : &all.front();
}

std::string_view DeviceResources::OfDevices(std::string_view driver,
                                            std::string_view product) const {
  if (const Class* extended = ExtendedOf(driver, product)) return extended->extended;
  const auto found = drivers_.find(driver);
  return found == drivers_.end() ? std::string_view() : found->second.resource;
}

bool DeviceResources::IsExtended(std::string_view driver, std::string_view product) const {
  const Class* extended = ExtendedOf(driver, product);
  return extended != nullptr && extended->exact &&
         (extended->product.empty() || extended->product == product);
}

std::string_view DeviceResources::OfClass(std::string_view device_class) const {
  const auto found = classes_.find(device_class);
  if (found == classes_.end()) return "";
  const Class& of = found->second;
  if (of.exact && !of.extended.empty()) return of.extended;
  const std::string_view counted = TypeOf(of.driver);
  if (!of.type.empty() && !counted.empty() && of.type != counted) return "";
  return OfDevices(of.driver, of.product);
}

std::string_view DeviceResources::DriverOf(std::string_view device_class) const {
  const auto found = classes_.find(device_class);
  return found == classes_.end() ? std::string_view() : found->second.driver;
}

std::string_view DeviceResources::TypeOf(std::string_view driver) const {
  const auto found = drivers_.find(driver);
  return found == drivers_.end() ? std::string_view() : found->second.type;
}

bool IsKnownDriver(std::string_view driver) {
  return std::any_of(std::begin(kDrivers), std::end(kDrivers),
                     [&](const auto& known) { return known.first == driver; });
}

void ResolveDeviceClasses(api::Inputs& inputs) {
  const auto names_class = [](const auto& one) { return !one.accelerator.device_class.empty(); };
  const bool any = std::any_of(inputs.jobs.begin(), inputs.jobs.end(), names_class) ||
                   std::any_of(inputs.placements.begin(), inputs.placements.end(), names_class);
  if (!any) return;
  const DeviceResources resources(inputs);
  const auto resolve = [&](api::Accelerator& accelerator) {
    const std::string_view resource = resources.OfClass(accelerator.device_class);
    if (!resource.empty()) accelerator.resource_name = resource;
  };
  for (std::size_t j = 0; j < inputs.jobs.size(); ++j) {
    if (!names_class(inputs.jobs[j])) continue;
    api::TrainingJob& job = inputs.jobs.Edit(j);
    resolve(job.accelerator);
    job.pod.requests[job.accelerator.resource_name] = job.accelerator.per_worker;
  }
  for (std::size_t p = 0; p < inputs.placements.size(); ++p) {
    if (names_class(inputs.placements[p])) resolve(inputs.placements.Edit(p).accelerator);
  }
}

}  // namespace weft::cluster
