#include "operator/cluster/accelerator_resources.h"

#include <set>

#include "operator/base/units.h"

namespace weft::cluster {

std::vector<std::string> NamedAcceleratorResources(const api::Inputs& inputs) {
  std::set<std::string> names(inputs.accelerator_resources.begin(),
                              inputs.accelerator_resources.end());
  for (const api::Fabric& one : inputs.fabrics) {
    names.insert(one.spec.accelerator_resources.begin(), one.spec.accelerator_resources.end());
  }
  for (const api::TrainingJob& job : inputs.jobs) names.insert(job.accelerator.resource_name);
  for (const api::Placement& one : inputs.placements) names.insert(one.accelerator.resource_name);
  std::erase_if(names, [](const std::string& name) {
    return name.empty() || fabric::IsAcceleratorResource(name);
  });
  return {names.begin(), names.end()};
}

bool IsAccelerator(const Cluster& cluster, const std::string& resource) {
  // All fabrics have the same list.
  if (cluster.fabrics.empty()) return fabric::IsAcceleratorResource(resource);
  return fabric::IsAcceleratorResource(
      resource, cluster.fabrics.front().fabric->spec().accelerator_resources);
}

std::int64_t AcceleratorsOf(const Cluster& cluster, const api::Pod& pod) {
  std::int64_t sum = 0;
  for (const auto& [name, amount] : pod.pod.requests) {
    if (amount > 0 && IsAccelerator(cluster, name)) sum = SaturatingAdd(sum, amount);
  }
  return sum;
}

}  // namespace weft::cluster
