#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/device_details.h"
#include "operator/api/inputs.h"
#include "operator/base/shared_list.h"
#include "operator/cluster/device_pools.h"
#include "operator/cluster/device_resources.h"

namespace weft::cluster {

// Devices of DRA drivers that are no accelerators (device_resources.h), such as network cards.
// Those that a DeviceClass selects count on their nodes as the resource that the class has by
// itself, api::kClassResourcePrefix and its name.
// - A node offers the devices of complete pools that lie on it, without those with a taint that
//   keeps claims off. A device that several nodes reach counts on each of them. One that several
//   claims may share counts as any number.
// - Classes whose selectors name no driver, channels of ComputeDomains, drivers without readable
//   slices, and all classes if there is no ResourceSlice at all, limit nothing.
// - What of a selector cannot be read (api::DeviceSelector) is taken to select every device.
// Points into the inputs; one thread at a time.
// Cost  O(n log n) to build for n classes and slices; nothing of a slice is read before a question.
class OtherDevices {
 public:
  explicit OtherDevices(const api::Inputs& inputs);

  // Whether devices of the driver count.
  bool KnowsDriver(std::string_view driver) const { return drivers_.contains(driver); }
  // The resource as which devices of the class count; "" if they do not.
  std::string ResourceOf(std::string_view device_class) const;

  bool HasResource(std::string_view resource) const;

  // Adds to the nodes what they offer.
  // Cost  linear in the slices of drivers that count, times their classes.
  void Offer(SharedList<api::Node>& nodes) const;

  // What a claim with this device uses on the device's node.
  fabric::Resources UsedBy(const api::ResourceClaim::Device& device) const;

  // What a pod asks for by a claim of its own. A request that tolerates taints of devices, or has
  // alternatives, asks for nothing here (claim_rules.h).
  fabric::Resources AskedBy(const std::vector<api::ClaimRequest>& requests) const;

  // How many claims with the request the devices of each node can serve, without those in `taken`:
  // by name of the node; nothing if the request limits no node.
  using ByNode = std::map<std::string, std::int64_t, std::less<>>;
  using Taken = std::set<api::ResourceClaim::Device>;
  std::optional<ByNode> ServedBy(const api::ClaimRequest& request,
                                 const SharedList<api::Node>& nodes, const Taken& taken) const;

 private:
  struct Class {
    std::string driver;
    std::vector<api::DeviceSelector> selectors;
    bool plain = false;  // they ask for nothing but the driver
  };
  struct Pool {
    std::vector<const api::ResourceSlice*> slices;  // of the generation that counts
  };
  // Which devices of a class a request wants.
  struct Wanted {
    const Class* of = nullptr;
    std::vector<api::DeviceSelector> selectors;
    const std::vector<rules::Toleration>* tolerations = nullptr;
    const Taken* taken = nullptr;  // null: none

    bool Takes(const api::Device& device) const;
    bool IsTaken(const PoolKey& pool, const api::Device& device) const;
  };
  bool Uses(const api::ResourceSlice& slice, const std::string& device, const Class& of) const;
  const api::SliceDetails* DetailsOf(const api::ResourceSlice& slice) const;
  // By index of the node.
  std::vector<std::int64_t> CountOn(const SharedList<api::Node>& nodes, const Wanted& wanted) const;

  std::map<std::string, Class, std::less<>> classes_;  // that count
  std::set<std::string, std::less<>> drivers_;         // of those
  std::map<PoolKey, Pool> pools_;                      // of those
  mutable std::map<const api::ResourceSlice*, api::SliceDetails> details_;
};

}  // namespace weft::cluster
