#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "operator/api/decode.h"
#include "operator/api/json_reader.h"
#include "operator/api/json_text.h"
#include "operator/api/pod_requirements.h"
#include "operator/base/timestamp.h"
#include "operator/fabric/partition.h"

namespace weft::api {
namespace {

// Labels with a node's number of devices: GPU feature discovery, GKE, Karpenter, EKS Auto Mode.
constexpr std::array<std::string_view, 4> kCountKeys = {
    "nvidia.com/gpu.count", "cloud.google.com/gke-accelerator-count",
    "karpenter.k8s.aws/instance-gpu-count", "eks.amazonaws.com/instance-gpu-count"};

std::int64_t LabelledCount(const TextMap& labels) {
  for (const std::string_view key : kCountKeys) {
    const std::string_view value = labels.At(key).value_or("");
    std::int64_t count = 0;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), count);
    if (error == std::errc() && stop == value.data() + value.size() && count > 0) return count;
  }
  return 0;
}

std::string_view VendorOf(std::string_view resource) {
  return resource.substr(0, resource.find('/'));
}

bool NamesAccelerators(const fabric::Resources& resources) {
  return std::any_of(resources.begin(), resources.end(), [](const auto& one) {
    return fabric::IsAcceleratorResource(one.first) || VendorOf(one.first) == "nvidia.com" ||
           one.first.find("gpu") != one.first.npos;  // such as volcano.sh/vgpu-number
  });
}

// After a restart the kubelet reports no device until the plug-in has registered again
// (kubernetes/kubernetes#125579), but the node's labels still count them. Not if the vendor's
// accelerators have another name there, such as MIG slices. On a new node, and where a driver's
// ResourceSlices are gone while it starts again, the kubelet does not even know the name: then GPU
// feature discovery tells it, unless the node has accelerators of any other name.
fabric::Resources NotRegistered(const fabric::Resources& capacity, const fabric::NodeFacts& node) {
  const std::int64_t count = LabelledCount(node.labels);
  if (count == 0) return {};
  for (const auto& [name, amount] : capacity) {
    if (amount > 0 || !fabric::IsAcceleratorResource(name)) continue;
    const std::string_view vendor = VendorOf(name);
    const bool other = std::any_of(capacity.begin(), capacity.end(), [&](const auto& one) {
      return one.second > 0 && VendorOf(one.first) == vendor &&
             fabric::IsAcceleratorResource(one.first);
    });
    if (!other) return {{name, count}};
  }
  const bool named = NamesAccelerators(capacity) || NamesAccelerators(node.allocatable);
  const bool off = node.labels.At("nvidia.com/gpu.deploy.device-plugin") == "false";
  if (named || off || !node.labels.At("nvidia.com/gpu.count")) return {};
  return {{"nvidia.com/gpu", count}};
}

// Whether it is a resource of a device plug-in, by its name in a vendor's domain. Jobs and Fabrics
// may name any of them as accelerators.
bool IsOfDevicePlugin(std::string_view resource) {
  const std::string_view domain = VendorOf(resource);
  return domain.size() < resource.size() && !domain.ends_with("kubernetes.io");
}

// The devices of which the node has more than it offers.
fabric::Resources CapacityOf(const fabric::Resources& reported, const fabric::NodeFacts& node) {
  fabric::Resources capacity;
  bool accelerators = false;
  for (const auto& [name, amount] : reported) {
    const auto offered = node.allocatable.find(name);
    const bool all = offered != node.allocatable.end() && offered->second >= amount;
    if (all || amount <= 0 || !IsOfDevicePlugin(name)) continue;
    capacity.emplace(name, amount);
    accelerators = accelerators || fabric::IsAcceleratorResource(name);
  }
  if (!accelerators) capacity.merge(NotRegistered(reported, node));
  return capacity;
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

// HAMi's device plug-in offers more units than the node has GPUs, also where no label counts these.
void CountRegistered(const ObjectMeta& meta, TextMap& labels) {
  const auto text = meta.annotations.At(kHamiRegister);
  if (!text) return;
  const std::vector<std::int64_t> units = UnitsOfRegistered(*text);
  const bool shared = std::any_of(units.begin(), units.end(), [](auto of) { return of > 1; });
  if (shared) labels.Set(fabric::kRegisteredGpus, std::to_string(units.size()));
}

}  // namespace

Result<Node> DecodeNode(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  Node node;
  node.place = decoding.place();
  ObjectMeta meta = DecodeMeta(root["metadata"], Scope::kCluster);
  node.meta.key = meta.key;
  node.meta.uid = std::move(meta.uid);
  node.meta.creation_timestamp = std::move(meta.creation_timestamp);
  node.facts.name = meta.key.name;
  node.facts.labels = std::move(meta.labels);
  CountRegistered(meta, node.facts.labels);

  const Field spec = root["spec"];
  node.facts.unschedulable = spec["unschedulable"].Bool();
  for (const Field& taint : spec["taints"].Items()) {
    node.facts.taints.push_back({taint["key"].Str(), taint["value"].Str(), taint["effect"].Str()});
  }
  const Field status = root["status"];
  for (const Field& condition : status["conditions"].Items()) {
    node.facts.conditions.push_back({condition["type"].Str(), condition["status"].Str(),
                                     ParseTime(condition["lastTransitionTime"].Str()).value_or(0)});
  }
  // If the kubelet reports no allocatable, capacity counts.
  const bool reported = status["allocatable"].present();
  node.facts.allocatable = DecodeResources(status[reported ? "allocatable" : "capacity"]);
  node.facts.capacity = CapacityOf(DecodeResources(status["capacity"]), node.facts);
  if (Status done = decoding.status(); !done) return done.error();
  return node;
}

Result<Node> DecodeNodeHead(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const ObjectMeta meta = DecodeMeta(decoding.Root()["metadata"], Scope::kCluster);
  if (Status done = decoding.status(); !done) return done.error();
  Node node;
  node.place = decoding.place();
  node.meta.key = meta.key;
  node.meta.uid = meta.uid;
  node.facts.name = meta.key.name;
  return node;
}

}  // namespace weft::api
