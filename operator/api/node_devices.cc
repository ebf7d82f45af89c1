#include "operator/api/node_devices.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/json_text.h"
#include "operator/api/node.h"
#include "operator/base/units.h"
#include "operator/fabric/neuron.h"
#include "operator/fabric/partition.h"

namespace weft::api {
namespace {

using fabric::Resources;

// Labels with a node's number of devices of any vendor: GKE, Karpenter, EKS Auto Mode.
constexpr std::array<std::string_view, 5> kCountKeys = {
    "cloud.google.com/gke-accelerator-count", "karpenter.k8s.aws/instance-gpu-count",
    "karpenter.k8s.aws/instance-accelerator-count", "eks.amazonaws.com/instance-gpu-count",
    "eks.amazonaws.com/instance-accelerator-count"};

constexpr std::string_view kMig = "nvidia.com/mig-", kCount = ".count", kShared = ".shared";
constexpr const char* kVolcanoUnits = "volcano.sh/vgpu-number";
constexpr std::int64_t kMostCores = 8;   // of a Neuron device
constexpr std::int64_t kMostSlices = 7;  // of a GPU
constexpr std::int64_t kMostParts = 8;   // of a GPU of AMD, which its labels do not count

// A positive number, else 0.
std::int64_t NumberOf(std::string_view text) {
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size() && number > 0 ? number : 0;
}

std::string_view VendorOf(std::string_view resource) {
  return resource.substr(0, resource.find('/'));
}

// AMD's node labeller writes KEY.VALUE=COUNT, for each kind of GPU.
std::int64_t CountOfAmd(const TextMap& labels) {
  for (const std::string prefix : {"amd.com/gpu.device-id.", "beta.amd.com/gpu.device-id."}) {
    std::int64_t sum = 0;
    for (auto label = labels.lower_bound(prefix); label != labels.end(); ++label) {
      if (!label->first.starts_with(prefix)) break;
      sum = SaturatingAdd(sum, NumberOf(label->second));
    }
    if (sum > 0) return sum;
  }
  return 0;
}

// The devices of the vendor; other device plug-ins of GPUs than the vendors' own are for NVIDIA's.
std::int64_t LabelledCount(const TextMap& labels, std::string_view vendor) {
  const std::int64_t own =
      vendor == "amd.com"
          ? CountOfAmd(labels)
          : NumberOf(labels
                         .At(vendor == "gpu.intel.com" ? "gpu.intel.com/device.count"
                                                       : "nvidia.com/gpu.count")
                         .value_or(""));
  if (own > 0) return own;
  for (const std::string_view key : kCountKeys) {
    if (const std::int64_t count = NumberOf(labels.At(key).value_or(""))) return count;
  }
  return 0;
}

// How many units of its resource a device has that pods share.
std::int64_t UnitsPerDevice(const TextMap& labels) {
  std::int64_t units = 1;
  for (const char* key :
       {"nvidia.com/gpu.replicas", "cloud.google.com/gke-max-shared-clients-per-gpu"}) {
    units = std::max(units, NumberOf(labels.At(key).value_or("")));
  }
  // GKE cuts all GPUs of a node alike: "1g.10gb" is one of seven parts, which may be shared.
  std::string_view size = labels.At("cloud.google.com/gke-gpu-partition-size").value_or("");
  const std::int64_t slices = NumberOf(size.substr(0, size.find('g')));
  const std::int64_t parts = slices > 0 ? std::max<std::int64_t>(1, 7 / slices) : 1;
  return SaturatingMultiply(units, parts);
}

// Of a MIG device, "nvidia.com/mig-1g.10gb" or, where pods share it,
// "nvidia.com/mig-1g.10gb.shared".
std::int64_t SlicesOf(std::string_view resource, const TextMap& labels) {
  if (resource.ends_with(kShared)) resource.remove_suffix(kShared.size());
  const auto number = [&](std::string_view name) {
    return NumberOf(labels.At(std::string(resource) + std::string(name)).value_or(""));
  };
  return SaturatingMultiply(number(kCount), std::max<std::int64_t>(1, number(".replicas")));
}

// The MIG slices that GPU feature discovery counts.
Resources LabelledSlices(const TextMap& labels) {
  Resources slices;
  for (auto label = labels.lower_bound(std::string(kMig)); label != labels.end(); ++label) {
    std::string_view name = label->first;
    if (!name.starts_with(kMig)) break;
    if (!name.ends_with(kCount)) continue;
    name.remove_suffix(kCount.size());
    if (const std::int64_t count = SlicesOf(name, labels)) slices.emplace(name, count);
  }
  return slices;
}

bool IsOfGpus(const std::string& resource) {
  return fabric::IsAcceleratorResource(resource) || VendorOf(resource) == "nvidia.com" ||
         resource.find("gpu") != resource.npos;  // such as volcano.sh/vgpu-memory
}

bool NamesAccelerators(const Resources& resources) {
  return std::any_of(resources.begin(), resources.end(),
                     [](const auto& one) { return IsOfGpus(one.first); });
}

// The resource that a new node will offer, as GPU feature discovery or its cloud tells; "" if
// neither does. A node that Karpenter calls initialized has all that it will have.
std::string ResourceToCome(const TextMap& labels) {
  if (labels.At("nvidia.com/gpu.count") || labels.At("cloud.google.com/gke-accelerator")) {
    return "nvidia.com/gpu";
  }
  if (labels.At("karpenter.sh/initialized") == "true") return "";
  for (const std::string of :
       {"karpenter.k8s.aws/instance-gpu-", "eks.amazonaws.com/instance-gpu-"}) {
    if (!labels.At(of + "count")) continue;
    const std::string_view maker = labels.At(of + "manufacturer").value_or("nvidia");
    return maker == "nvidia"   ? "nvidia.com/gpu"
           : maker == "amd"    ? "amd.com/gpu"
           : maker == "habana" ? "habana.ai/gaudi"
                               : "";
  }
  return "";
}

// Counts what the kubelet of one node has forgotten.
class Forgotten {
 public:
  Forgotten(const Resources& capacity, const fabric::NodeFacts& node, std::int64_t registered_units)
      : capacity_(capacity), node_(node), registered_units_(registered_units) {}

  Resources Count() const {
    Resources forgotten;
    for (const auto& [name, amount] : capacity_) {
      const bool counts = fabric::IsAcceleratorResource(name) || name == kVolcanoUnits;
      if (amount > 0 || !counts || HasOthersOf(VendorOf(name))) continue;
      if (const std::int64_t units = UnitsOf(name)) forgotten.emplace(name, units);
    }
    if (node_.labels.At("nvidia.com/gpu.deploy.device-plugin") == "false") return forgotten;
    if (!HasRegistered()) {
      for (auto& [name, count] : LabelledSlices(node_.labels)) {
        if (!capacity_.contains(name + std::string(kShared))) forgotten.emplace(name, count);
      }
    }
    if (!forgotten.empty()) return forgotten;
    // On a new node, and where a driver's ResourceSlices are gone while it starts again, the
    // kubelet does not even know the name.
    if (NamesAccelerators(capacity_) || NamesAccelerators(node_.allocatable)) return {};
    const std::string resource = ResourceToCome(node_.labels);
    const std::int64_t units = resource.empty() ? 0 : UnitsOf(resource);
    return units > 0 ? Resources{{resource, units}} : Resources();
  }

 private:
  // Whether the node has accelerators of the vendor by another name.
  bool HasOthersOf(std::string_view vendor) const {
    return std::any_of(capacity_.begin(), capacity_.end(), [&](const auto& one) {
      return one.second > 0 && VendorOf(one.first) == vendor &&
             fabric::IsAcceleratorResource(one.first);
    });
  }

  bool HasRegistered() const {
    return std::any_of(capacity_.begin(), capacity_.end(),
                       [](const auto& one) { return one.second > 0 && IsOfGpus(one.first); });
  }

  std::int64_t UnitsOf(std::string_view resource) const {
    const bool mig = resource.starts_with(kMig);
    const std::int64_t slices = mig ? SlicesOf(resource, node_.labels) : 0;
    if (slices > 0) return slices;
    const std::string_view vendor = VendorOf(resource);
    std::int64_t units =
        SaturatingMultiply(LabelledCount(node_.labels, vendor), UnitsPerDevice(node_.labels));
    if (mig) return SaturatingMultiply(units, kMostSlices);
    if (resource == fabric::kNeuronNames.back()) units = SaturatingMultiply(units, kMostCores);
    const bool cut =
        vendor == "amd.com" && !fabric::PartitionOf(node_, std::string(resource)).whole();
    if (cut) units = SaturatingMultiply(units, kMostParts);
    return std::max(units, registered_units_);
  }

  const Resources& capacity_;
  const fabric::NodeFacts& node_;
  const std::int64_t registered_units_;
};

// Whether it is a resource of a device plug-in, by its name in a vendor's domain. Jobs and Fabrics
// may name any of them as accelerators.
bool IsOfDevicePlugin(std::string_view resource) {
  const std::string_view domain = VendorOf(resource);
  return domain.size() < resource.size() && !domain.ends_with("kubernetes.io");
}

// Counts of the GPUs that HAMi registers: how many units pods may share each by.
std::vector<std::int64_t> UnitsOfRegistered(std::string_view text) {
  std::vector<std::int64_t> units;
  if (text.starts_with('[')) {
    const nlohmann::json list = ParseJson(text);
    if (!list.is_array()) return units;
    for (const auto& gpu : list) {
      const auto count = gpu.is_object() ? gpu.find("count") : gpu.end();
      if (count != gpu.end() && count->is_number_integer()) units.push_back(*count);
    }
    return units;
  }
  while (!text.empty()) {
    const std::string_view gpu = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(text.size(), gpu.size() + 1));
    const std::size_t comma = gpu.find(',');
    std::int64_t count = 0;
    if (comma == gpu.npos) continue;
    const auto [stop, error] =
        std::from_chars(gpu.data() + comma + 1, gpu.data() + gpu.size(), count);
    if (error == std::errc()) units.push_back(count);
  }
  return units;
}

}  // namespace

RegisteredGpus ReadRegisteredGpus(const TextMap& annotations) {
  RegisteredGpus registered;
  for (const char* key : {kVolcanoRegister, kHamiRegister}) {
    const auto text = annotations.At(key);
    if (!text) continue;
    const std::vector<std::int64_t> units = UnitsOfRegistered(*text);
    const bool shared = std::any_of(units.begin(), units.end(), [](auto of) { return of > 1; });
    if (!shared) continue;
    registered = {static_cast<std::int64_t>(units.size()), 0};
    for (const std::int64_t of : units) {
      registered.units = SaturatingAdd(registered.units, std::max<std::int64_t>(0, of));
    }
  }
  return registered;
}

Resources DevicesBeyond(const Resources& capacity, const fabric::NodeFacts& node,
                        std::int64_t registered_units) {
  Resources beyond;
  bool accelerators = false;
  for (const auto& [name, amount] : capacity) {
    const auto offered = node.allocatable.find(name);
    const bool all = offered != node.allocatable.end() && offered->second >= amount;
    if (all || amount <= 0 || !IsOfDevicePlugin(name)) continue;
    beyond.emplace(name, amount);
    accelerators = accelerators || fabric::IsAcceleratorResource(name);
  }
  if (!accelerators) beyond.merge(Forgotten(capacity, node, registered_units).Count());
  return beyond;
}

}  // namespace weft::api
