#include "operator/cluster/devices.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "operator/api/gang_annotations.h"
#include "operator/base/units.h"
#include "operator/fabric/node_facts.h"

namespace weft::cluster {
namespace {

using api::ObjectKey;
using fabric::Resources;
using PoolKey = std::pair<std::string_view, std::string_view>;  // driver, pool

// Drivers of accelerators, and the resource of the same vendor's device plug-in.
constexpr std::pair<std::string_view, std::string_view> kDrivers[] = {
    {"gpu.nvidia.com", "nvidia.com/gpu"},  {"gpu.amd.com", "amd.com/gpu"},
    {"gpu.intel.com", "gpu.intel.com/xe"}, {"gaudi.intel.com", "habana.ai/gaudi"},
    {"tpu.google.com", "google.com/tpu"},
};

void AddTo(Resources& sum, const Resources& more) {
  for (const auto& [name, amount] : more) sum[name] = SaturatingAdd(sum[name], amount);
}

// The most devices of a driver that one slice has: what a request for all of a node asks for.
std::int64_t MostOnANode(const std::string& driver, const api::Inputs& inputs) {
  std::int64_t most = 1;
  for (const api::ResourceSlice& slice : inputs.resource_slices) {
    if (slice.driver != driver) continue;
    for (const auto& [type, count] : slice.usable) most = std::max(most, count);
  }
  return most;
}

// A claim with accelerators, and where they are.
struct Held {
  const api::ResourceClaim* claim = nullptr;
  std::string node;
  Resources amounts;  // without what earlier claims hold too
};

class Counting {
 public:
  explicit Counting(api::Inputs& inputs) : inputs_(inputs) {}

  void Run() {
    FindPools();
    FindPods();
    const std::vector<Held> held = HeldByClaims();
    for (const Held& one : held) Book(one);
    // A pod whose claims have no devices yet, on a node or not, has what they ask for.
    const ClaimDemand demand(inputs_);
    for (const auto& [p, pod] : pods_) {
      if (!booked_.contains(p) && !Ended(*pod))
        AddTo(more_[p], demand.Of(*pod).value_or(Resources()));
    }
    for (const std::size_t p : booked_) more_[p];
    for (const auto& [p, more] : more_) Apply(p, more);
    for (api::Pod& pod : without_pod_) inputs_.pods.push_back(std::move(pod));
    inputs_.resource_claims = {};
  }

 private:
  static bool Ended(const api::Pod& pod) { return pod.HasEnded(); }

  // The slices of the pools in which claims hold accelerators.
  void FindPools() {
    for (const api::ResourceClaim& claim : inputs_.resource_claims) {
      for (const auto& device : claim.devices) pools_[{device.driver, device.pool}];
    }
    if (pools_.empty()) return;
    for (const api::ResourceSlice& slice : inputs_.resource_slices) {
      const auto pool = pools_.find({slice.driver, slice.pool});
      if (pool != pools_.end()) pool->second.push_back(&slice);
    }
  }

  // Pods that have claims, and those that claims are reserved for.
  void FindPods() {
    std::set<std::pair<std::string_view, std::string_view>> users;
    for (const api::ResourceClaim& claim : inputs_.resource_claims) {
      for (const auto& user : claim.users) users.emplace(claim.meta.key.space, user.pod);
    }
    for (std::size_t p = 0; p < inputs_.pods.size(); ++p) {
      const api::Pod& pod = inputs_.pods[p];
      const bool uses = !users.empty() && users.contains({pod.meta.key.space, pod.meta.key.name});
      if (pod.claims.empty() && !uses) continue;
      pods_[p] = inputs_.pods.Share(p);
      by_key_[pod.meta.key] = p;
    }
  }

  std::string_view WholeOf(const api::ResourceClaim::Device& device) const {
    for (const api::ResourceSlice* slice : pools_.at({device.driver, device.pool})) {
      for (const auto& part : slice->parts) {
        if (part.device == device.name) return part.whole;
      }
    }
    return device.name;
  }

  // By the slices, else by the allocation, else by the pool, which drivers name like their node.
  std::string NodeOf(const api::ResourceClaim& claim, const api::ResourceClaim::Device& of) const {
    for (const api::ResourceSlice* slice : pools_.at({of.driver, of.pool})) {
      if (!slice->node_name.empty()) return slice->node_name;
    }
    return claim.node_name.empty() ? of.pool : claim.node_name;
  }

  // By key of the claim, so that which claim counts a shared GPU does not depend on their order.
  std::vector<Held> HeldByClaims() const {
    std::vector<const api::ResourceClaim*> claims;
    for (const api::ResourceClaim& claim : inputs_.resource_claims) {
      if (!claim.devices.empty()) claims.push_back(&claim);
    }
    std::sort(claims.begin(), claims.end(),
              [](const auto* a, const auto* b) { return a->meta.key < b->meta.key; });
    std::vector<Held> all;
    std::set<std::tuple<std::string_view, std::string_view, std::string_view>> counted;
    for (const api::ResourceClaim* claim : claims) {
      Held held{claim, "", {}};
      for (const auto& device : claim->devices) {
        const auto resource = ResourceOfDriver(device.driver, inputs_.device_classes);
        if (resource.empty()) continue;
        if (held.node.empty()) held.node = NodeOf(*claim, device);
        if (!counted.emplace(device.driver, device.pool, WholeOf(device)).second) continue;
        AddTo(held.amounts, {{std::string(resource), 1}});
      }
      if (!held.node.empty()) all.push_back(std::move(held));
    }
    return all;
  }

  // The claim's users that are among the pods.
  std::vector<std::size_t> UsersOf(const api::ResourceClaim& claim) const {
    std::vector<std::size_t> users;
    for (const auto& user : claim.users) {
      const auto found = by_key_.find({claim.meta.key.space, user.pod});
      if (found == by_key_.end()) continue;
      const std::string& uid = pods_.at(found->second)->meta.uid;
      if (user.uid.empty() || uid.empty() || user.uid == uid) users.push_back(found->second);
    }
    return users;
  }

  void Book(const Held& held) {
    bool counted = held.amounts.empty();
    for (const std::size_t p : UsersOf(*held.claim)) {
      const api::Pod& pod = *pods_.at(p);
      if (pod.Holds() && pod.node_name == held.node) {
        if (!held.claim->for_extended_resource) booked_.insert(p);
        if (!counted && !held.claim->for_extended_resource) AddTo(more_[p], held.amounts);
        counted = true;
      } else if (pod.node_name.empty() && !Ended(pod) && IsWorker(pod)) {
        counted = true;  // a worker that is about to be bound: its Placement counts it
      }
    }
    if (!counted) without_pod_.push_back(PodOf(held));
  }

  static bool IsWorker(const api::Pod& pod) {
    return pod.meta.labels.contains(api::kJobNameLabel) ||
           pod.meta.labels.contains(api::kPlacementLabel);
  }

  static api::Pod PodOf(const Held& held) {
    const api::ObjectMeta& claim = held.claim->meta;
    api::Pod pod;
    pod.place = held.claim->place;
    pod.meta.key = {claim.key.space, "resourceclaim." + claim.key.name};
    pod.meta.owners = {{"resource.k8s.io/v1", "ResourceClaim", claim.key.name, claim.uid, true}};
    pod.node_name = held.node;
    pod.phase = api::PodPhase::kRunning;
    pod.pod.requests = held.amounts;
    return pod;
  }

  void Apply(std::size_t p, const Resources& more) {
    if (more.empty() && !booked_.contains(p)) return;
    api::Pod& pod = inputs_.pods.Edit(p);
    pod.claims.clear();
    AddTo(pod.pod.requests, more);
  }

  api::Inputs& inputs_;
  std::map<PoolKey, std::vector<const api::ResourceSlice*>> pools_;
  std::map<std::size_t, std::shared_ptr<const api::Pod>> pods_;  // by index
  std::map<ObjectKey, std::size_t> by_key_;
  std::set<std::size_t> booked_;  // pods whose claims have devices
  std::map<std::size_t, Resources> more_;
  std::vector<api::Pod> without_pod_;
};

// Untainted accelerators by node and resource.
std::map<std::string_view, Resources> AmountsOfSlices(const api::Inputs& inputs) {
  std::map<PoolKey, std::int64_t> newest;
  for (const api::ResourceSlice& slice : inputs.resource_slices) {
    const auto [pool, fresh] = newest.emplace(PoolKey(slice.driver, slice.pool), slice.generation);
    if (!fresh) pool->second = std::max(pool->second, slice.generation);
  }
  std::map<std::string_view, Resources> by_node;
  for (const api::DeviceClass& one : inputs.device_classes) {
    if (!one.exact || !fabric::IsAcceleratorResource(one.extended_resource)) continue;
    for (const api::ResourceSlice& slice : inputs.resource_slices) {
      if (slice.driver != one.driver || slice.node_name.empty()) continue;
      if (slice.generation < newest.at({slice.driver, slice.pool})) continue;
      std::int64_t count = 0;
      for (const auto& [type, of_type] : slice.usable) {
        if (one.type.empty() || one.type == type) count += of_type;
      }
      if (count > 0) AddTo(by_node[slice.node_name], {{one.extended_resource, count}});
    }
  }
  return by_node;
}

}  // namespace

std::string_view ResourceOfDriver(std::string_view driver,
                                  std::span<const api::DeviceClass> classes) {
  if (driver.empty()) return "";
  for (const api::DeviceClass& one : classes) {
    if (one.driver == driver && fabric::IsAcceleratorResource(one.extended_resource)) {
      return one.extended_resource;
    }
  }
  for (const auto& [known, resource] : kDrivers) {
    if (known == driver) return resource;
  }
  return "";
}

ClaimDemand::ClaimDemand(const api::Inputs& inputs) : inputs_(inputs) {
  for (const api::ClaimTemplate& one : inputs.claim_templates) {
    of_templates_[one.meta.key] = &one.requests;
  }
  for (const api::ResourceClaim& one : inputs.resource_claims) {
    of_claims_[one.meta.key] = &one.requests;
  }
}

Resources ClaimDemand::AmountsOf(const std::vector<api::DeviceRequest>& requests) const {
  Resources amounts;
  const auto& classes = inputs_.device_classes;
  for (const api::DeviceRequest& request : requests) {
    const auto of = std::find_if(classes.begin(), classes.end(), [&](const auto& one) {
      return one.meta.key.name == request.device_class;
    });
    if (of == classes.end() || request.count == 0) continue;
    std::string_view resource = of->extended_resource;
    if (!fabric::IsAcceleratorResource(of->extended_resource)) {
      resource = ResourceOfDriver(of->driver, classes);
    }
    if (resource.empty()) continue;
    const std::int64_t count = request.all ? MostOnANode(of->driver, inputs_) : request.count;
    AddTo(amounts, {{std::string(resource), count}});
  }
  return amounts;
}

std::optional<fabric::Resources> ClaimDemand::Of(const api::Pod& pod) const {
  Resources asked;
  for (const api::ClaimReference& claim : pod.claims) {
    const bool of_template = claim.claim.empty();
    const Requests& all = of_template ? of_templates_ : of_claims_;
    const auto found =
        all.find({pod.meta.key.space, of_template ? claim.claim_template : claim.claim});
    if (found == all.end()) return std::nullopt;
    AddTo(asked, AmountsOf(*found->second));
  }
  return asked;
}

void CountClaims(api::Inputs& inputs) {
  const bool asked = std::any_of(inputs.pods.begin(), inputs.pods.end(),
                                 [](const api::Pod& pod) { return !pod.claims.empty(); });
  if (asked || !inputs.resource_claims.empty()) Counting(inputs).Run();
}

SharedList<api::Node> NodesWithDevices(const api::Inputs& inputs) {
  SharedList<api::Node> nodes = inputs.nodes;
  if (inputs.resource_slices.empty() || inputs.device_classes.empty()) return nodes;
  const auto by_node = AmountsOfSlices(inputs);
  if (by_node.empty()) return nodes;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto told = by_node.find(nodes[n].facts.name);
    if (told == by_node.end()) continue;
    for (const auto& [resource, amount] : told->second) {
      const Resources& reported = nodes[n].facts.allocatable;
      const auto found = reported.find(resource);
      if (found != reported.end() && found->second > 0) continue;
      fabric::NodeFacts& facts = nodes.Edit(n).facts;
      facts.allocatable[resource] = amount;
      facts.capacity.erase(resource);
    }
  }
  return nodes;
}

}  // namespace weft::cluster
