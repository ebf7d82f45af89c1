#include "operator/cluster/other_devices.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "operator/base/units.h"
#include "operator/rules/selector.h"
#include "operator/rules/tolerations.h"

namespace weft::cluster {
namespace {

using api::Selected;

// Of a device that several claims may share: more than all pods of a node can claim.
constexpr std::int64_t kPlenty = 1'000'000;

std::vector<api::DeviceSelector> Read(const std::vector<std::string>& expressions) {
  std::vector<api::DeviceSelector> selectors;
  for (const std::string& one : expressions) selectors.emplace_back(one);
  return selectors;
}

bool MaySelect(const std::vector<api::DeviceSelector>& selectors, const api::DeviceFacts& device) {
  return std::none_of(selectors.begin(), selectors.end(), [&](const api::DeviceSelector& one) {
    return one.Matches(device) == Selected::kNo;
  });
}

bool Reaches(const api::DevicePlace& place, const fabric::NodeFacts& node) {
  if (place.all_nodes || place.node_name == node.name) return true;
  return place.terms && rules::MatchesAffinity(*place.terms, node);
}

// How many claims for all of so many devices can be served: one, unless they may be shared.
std::int64_t AllServe(std::int64_t devices) {
  return devices < kPlenty ? std::min<std::int64_t>(devices, 1) : devices;
}

// Whether a claim can have the device although it has taints.
bool PassesTaints(const api::Device& device, const std::vector<rules::Toleration>& tolerations) {
  return rules::FirstUntolerated(device.taints, tolerations) == nullptr;
}

}  // namespace

OtherDevices::OtherDevices(const api::Inputs& inputs) {
  if (inputs.resource_slices.empty() || inputs.device_classes.empty()) return;
  const DeviceResources accelerators(inputs);
  for (const api::DeviceClass& one : inputs.device_classes) {
    const std::string& driver = one.driver;
    if (driver.empty() || driver == api::kComputeDomainDriver) continue;
    const auto selectors = api::SelectorsOf(one);
    if (!selectors || accelerators.KnowsDriver(driver)) continue;
    const bool plain = one.exact && one.type.empty() && one.product.empty();
    classes_[one.meta.key.name] = {driver, Read(*selectors), plain};
    drivers_.insert(driver);
  }
  if (classes_.empty()) return;
  for (const api::ResourceSlice& slice : inputs.resource_slices) {
    if (slice.meta.annotations.empty()) drivers_.erase(slice.driver);  // nothing is known of them
  }
  std::erase_if(classes_, [&](const auto& one) { return !drivers_.contains(one.second.driver); });
  for (const auto& [key, generations] : GenerationsOf(inputs)) {
    if (!drivers_.contains(key.first)) continue;
    const Generation& newest = generations.rbegin()->second;
    if (newest.Complete()) pools_[key].slices = newest.slices;
  }
}

std::string OtherDevices::ResourceOf(std::string_view device_class) const {
  if (!classes_.contains(device_class)) return "";
  return std::string(api::kClassResourcePrefix) + std::string(device_class);
}

bool OtherDevices::HasResource(std::string_view resource) const {
  return resource.starts_with(api::kClassResourcePrefix) &&
         classes_.contains(resource.substr(api::kClassResourcePrefix.size()));
}

const api::SliceDetails* OtherDevices::DetailsOf(const api::ResourceSlice& slice) const {
  const auto [found, is_new] = details_.try_emplace(&slice);
  if (is_new) found->second = api::DetailsOf(slice).value_or(api::SliceDetails());
  return &found->second;
}

bool OtherDevices::Wanted::Takes(const api::Device& device) const {
  return MaySelect(of->selectors, device.facts) && MaySelect(selectors, device.facts) &&
         PassesTaints(device, *tolerations);
}

bool OtherDevices::Wanted::IsTaken(const PoolKey& pool, const api::Device& device) const {
  if (taken == nullptr || taken->empty() || device.shareable) return false;
  return taken->contains({std::string(pool.first), std::string(pool.second), device.name});
}

std::vector<std::int64_t> OtherDevices::CountOn(const SharedList<api::Node>& nodes,
                                                const Wanted& wanted) const {
  std::map<std::string_view, std::size_t> by_name;
  for (std::size_t n = 0; n < nodes.size(); ++n) by_name[nodes[n].facts.name] = n;
  std::vector<std::int64_t> counts(nodes.size(), 0);
  const auto add = [&](const api::DevicePlace& place, std::int64_t more) {
    if (more == 0) return;
    if (const auto at = by_name.find(place.node_name); at != by_name.end()) {
      counts[at->second] = SaturatingAdd(counts[at->second], more);
    }
    if (!place.all_nodes && !place.terms) return;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (Reaches(place, nodes[n].facts)) counts[n] = SaturatingAdd(counts[n], more);
    }
  };
  for (const auto& [key, pool] : pools_) {
    if (key.first != wanted.of->driver) continue;
    for (const api::ResourceSlice* slice : pool.slices) {
      const api::SliceDetails& details = *DetailsOf(*slice);
      std::int64_t of_slice = 0;
      for (const api::Device& device : details.devices) {
        if (!wanted.Takes(device) || wanted.IsTaken(key, device)) continue;
        const std::int64_t more = device.shareable ? kPlenty : 1;
        if (device.place.somewhere()) {
          add(device.place, more);
        } else {
          of_slice += more;
        }
      }
      add(details.place, of_slice);
    }
  }
  return counts;
}

void OtherDevices::Offer(SharedList<api::Node>& nodes) const {
  const std::vector<rules::Toleration> none;
  for (const auto& [name, of] : classes_) {
    const std::string resource = ResourceOf(name);
    const std::vector<std::int64_t> counts = CountOn(nodes, {&of, {}, &none, nullptr});
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const auto has = nodes[n].facts.allocatable.find(resource);
      const std::int64_t before = has == nodes[n].facts.allocatable.end() ? 0 : has->second;
      if (counts[n] != before) nodes.Edit(n).facts.allocatable[resource] = counts[n];
    }
  }
}

// Whether a claim that has the device, which the slice lists, uses one of the class. Most slices
// need not be read for it.
bool OtherDevices::Uses(const api::ResourceSlice& slice, const std::string& device,
                        const Class& of) const {
  if (of.plain && slice.tainted.empty() && !api::ListsShareable(slice)) return true;
  const auto& devices = DetailsOf(slice)->devices;
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const api::Device& one) { return one.name == device; });
  const std::vector<rules::Toleration> none;
  return found != devices.end() && !found->shareable &&
         Wanted{&of, {}, &none, nullptr}.Takes(*found);
}

fabric::Resources OtherDevices::UsedBy(const api::ResourceClaim::Device& device) const {
  fabric::Resources used;
  const auto pool = pools_.find({device.driver, device.pool});
  if (pool == pools_.end()) return used;
  for (const api::ResourceSlice* slice : pool->second.slices) {
    if (slice->node_name.empty() || !api::ListsDevice(*slice, device.name)) continue;
    for (const auto& [name, of] : classes_) {
      if (of.driver == device.driver && Uses(*slice, device.name, of)) used[ResourceOf(name)] = 1;
    }
  }
  return used;
}

fabric::Resources OtherDevices::AskedBy(const std::vector<api::ClaimRequest>& requests) const {
  fabric::Resources asked;
  for (const api::ClaimRequest& request : requests) {
    if (request.choices.size() != 1) continue;
    const api::RequestChoice& only = request.choices.front();
    const std::string resource = ResourceOf(only.device_class);
    if (resource.empty() || only.count == 0 || !only.tolerations.empty()) continue;
    std::int64_t& sum = asked[resource];
    sum = SaturatingAdd(sum, only.all ? 1 : only.count);
  }
  return asked;
}

std::optional<OtherDevices::ByNode> OtherDevices::ServedBy(const api::ClaimRequest& request,
                                                           const SharedList<api::Node>& nodes,
                                                           const Taken& taken) const {
  ByNode served;
  for (const api::RequestChoice& choice : request.choices) {
    const auto of = classes_.find(choice.device_class);
    if (of == classes_.end() || choice.count == 0) return std::nullopt;
    const Wanted wanted{&of->second, Read(choice.selectors), &choice.tolerations, &taken};
    const std::vector<std::int64_t> counts = CountOn(nodes, wanted);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      std::int64_t& sum = served[nodes[n].facts.name];
      sum = SaturatingAdd(sum, choice.all ? AllServe(counts[n]) : counts[n] / choice.count);
    }
  }
  return served;
}

}  // namespace weft::cluster
