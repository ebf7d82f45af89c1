#include "operator/cluster/device_resources.h"

#include <algorithm>
#include <set>
#include <vector>

#include "operator/fabric/node_facts.h"

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
    const bool accelerators = fabric::IsAcceleratorResource(one->extended_resource);
    classes_[one->meta.key.name] = {one->driver, accelerators ? one->extended_resource : ""};
    if (one->driver.empty()) continue;
    const bool is_named = named.contains(one->meta.key.name);
    if (!accelerators && !is_named && !drivers_.contains(one->driver)) continue;
    Driver& driver = drivers_[one->driver];
    if (accelerators && !driver.extended) {
      driver.resource = one->extended_resource;
      if (one->exact) driver.extended = {one->extended_resource, one->type};
    }
    if (driver.resource.empty()) {
      driver.resource = std::string(api::kClassResourcePrefix) + one->meta.key.name;
    }
    if (!one->exact || driver.typed) continue;
    driver.type = one->type;
    driver.typed = true;
  }
}

std::string_view DeviceResources::OfDriver(std::string_view driver) const {
  const auto found = drivers_.find(driver);
  return found == drivers_.end() ? std::string_view() : found->second.resource;
}

std::string_view DeviceResources::OfClass(std::string_view device_class) const {
  const auto found = classes_.find(device_class);
  if (found == classes_.end()) return "";
  return found->second.extended.empty() ? OfDriver(found->second.driver) : found->second.extended;
}

std::string_view DeviceResources::DriverOf(std::string_view device_class) const {
  const auto found = classes_.find(device_class);
  return found == classes_.end() ? std::string_view() : found->second.driver;
}

std::optional<DeviceResources::Extended> DeviceResources::ExtendedOf(
    std::string_view driver) const {
  const auto found = drivers_.find(driver);
  return found == drivers_.end() ? std::nullopt : found->second.extended;
}

std::string_view DeviceResources::TypeOf(std::string_view driver) const {
  const auto found = drivers_.find(driver);
  return found == drivers_.end() ? std::string_view() : found->second.type;
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
