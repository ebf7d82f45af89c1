#include "operator/cluster/accelerator_resources.h"

#include <algorithm>
#include <array>
#include <set>

#include "operator/base/units.h"
#include "operator/fabric/products.h"

namespace weft::cluster {

namespace {

// Every node's resources are compared with each name, so jobs of anybody may not add thousands.
constexpr std::size_t kNamedByJobs = 256;

std::vector<std::string> ListOf(std::set<std::string> names) {
  std::erase_if(names, [](const std::string& name) {
    return name.empty() || fabric::IsAcceleratorResource(name) || NamesOtherDevice(name);
  });
  return {names.begin(), names.end()};
}

}  // namespace

bool NamesOtherDevice(std::string_view resource) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"rdma", "hca",  "roce",    "ib",      "infiniband", "efa",     "sriov",   "vf",
       "pf",   "nic",  "net",     "dranet",  "network",    "hostdev", "macvlan", "fuse",
       "kvm",  "tun",  "vhost",   "usb",     "serial",     "video",   "snd",     "sgx",
       "epc",  "disk", "storage", "channel", "domain"});
  const std::string_view name = resource.substr(resource.find('/') + 1);  // npos + 1 is 0
  const std::vector<std::string> words = fabric::WordsOf(name.substr(0, name.find('.')));
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
  });
}

AcceleratorNames NamedAcceleratorResources(const api::Inputs& inputs) {
  std::set<std::string> names(inputs.accelerator_settings.begin(),
                              inputs.accelerator_settings.end());
  for (const api::Fabric& one : inputs.fabrics) {
    names.insert(one.spec.accelerator_resources.begin(), one.spec.accelerator_resources.end());
  }
  for (const api::DeviceClass& one : inputs.device_classes) names.insert(one.extended_resource);
  AcceleratorNames of;
  of.settled = ListOf(names);
  names.insert(inputs.accelerator_resources.begin(), inputs.accelerator_resources.end());
  for (const api::TrainingJob& job : inputs.jobs) names.insert(job.accelerator.resource_name);
  for (const api::Placement& one : inputs.placements) names.insert(one.accelerator.resource_name);
  of.all = ListOf(std::move(names));
  if (of.all.size() > of.settled.size() + kNamedByJobs) {  // the first by name
    std::size_t left = kNamedByJobs;
    std::erase_if(of.all, [&](const std::string& name) {
      if (std::binary_search(of.settled.begin(), of.settled.end(), name)) return false;
      if (left == 0) return true;
      --left;
      return false;
    });
  }
  return of;
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
