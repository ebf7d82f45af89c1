#include "operator/cluster/devices.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "operator/api/gang_annotations.h"
#include "operator/base/units.h"
#include "operator/fabric/node_facts.h"
#include "operator/fabric/pools.h"

namespace weft::cluster {
namespace {

using api::ObjectKey;
using fabric::Resources;
using PoolKey = std::pair<std::string_view, std::string_view>;  // driver, pool

void AddTo(Resources& sum, const Resources& more) {
  for (const auto& [name, amount] : more) sum[name] = SaturatingAdd(sum[name], amount);
}

// A claim with accelerators, and where they are.
struct Held {
  const api::ResourceClaim* claim = nullptr;
  std::string node;
  Resources amounts;  // without what earlier claims hold too
};

class Counting {
 public:
  explicit Counting(api::Inputs& inputs) : inputs_(inputs), resources_(inputs) {}

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

  std::string_view ProductOf(const api::ResourceClaim::Device& device) const {
    const auto& slices = pools_.at({device.driver, device.pool});
    return slices.empty() ? std::string_view() : slices.front()->product;
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
        const auto resource = resources_.OfDevices(device.driver, ProductOf(device));
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
    pod.pod.claims_accelerators = true;
    AddTo(pod.pod.requests, more);
  }

  api::Inputs& inputs_;
  const DeviceResources resources_;
  std::map<PoolKey, std::vector<const api::ResourceSlice*>> pools_;
  std::map<std::size_t, std::shared_ptr<const api::Pod>> pods_;  // by index
  std::map<ObjectKey, std::size_t> by_key_;
  std::set<std::size_t> booked_;  // pods whose claims have devices
  std::map<std::size_t, Resources> more_;
  std::vector<api::Pod> without_pod_;
};

// What slices tell of one resource of one node.
struct Told {
  std::int64_t usable = 0, lost = 0;  // lost: tainted, or of a pool that is not complete
  bool extended = true;               // an extended resource asks for all of them
  std::string product;
};
using ToldByNode = std::map<std::string_view, std::map<std::string, Told>>;

// The slices of one generation of each pool. kube-scheduler looks only at the newest, and only if
// the driver has written all of it; until then its devices, or those of the generation before if
// they are more, are lost for a moment.
struct Generation {
  std::int64_t devices = 0;
  std::vector<const api::ResourceSlice*> slices;

  bool Complete() const {
    return static_cast<std::int64_t>(slices.size()) >= slices.front()->slices_in_pool;
  }

  // How many the whole pool has for so many, if the slices that are not written yet are like these.
  std::int64_t InWhole(std::int64_t count) const {
    const auto written = static_cast<std::int64_t>(slices.size());
    const std::int64_t all = std::max(written, slices.front()->slices_in_pool);
    return (count * all + written - 1) / written;
  }
};

std::int64_t OfType(const std::map<std::string, std::int64_t>& counts, std::string_view type) {
  std::int64_t sum = 0;
  for (const auto& [of, count] : counts) sum += type.empty() || of == type ? count : 0;
  return sum;
}

// By pool, oldest first.
std::map<PoolKey, std::map<std::int64_t, Generation>> GenerationsOf(const api::Inputs& inputs) {
  std::map<PoolKey, std::map<std::int64_t, Generation>> pools;
  for (const api::ResourceSlice& slice : inputs.resource_slices) {
    Generation& of = pools[{slice.driver, slice.pool}][slice.generation];
    of.devices += OfType(slice.usable, "") + OfType(slice.tainted, "");
    of.slices.push_back(&slice);
  }
  return pools;
}

// As GPU feature discovery writes it into a label.
std::string LabelOf(std::string product) {
  std::replace(product.begin(), product.end(), ' ', '-');
  return product;
}

// The generation of a pool that counts.
struct Counted {
  const Generation* of = nullptr;
  bool complete = false;  // kube-scheduler looks at it
  bool one_node = false;  // the pool's slices name no two nodes; else each may lie on any of them
};

bool NameOneNode(const std::map<std::int64_t, Generation>& generations) {
  const std::string& first = generations.begin()->second.slices.front()->node_name;
  return std::all_of(generations.begin(), generations.end(), [&](const auto& generation) {
    const auto& slices = generation.second.slices;
    return std::all_of(slices.begin(), slices.end(),
                       [&](const api::ResourceSlice* slice) { return slice->node_name == first; });
  });
}

void Tell(const api::ResourceSlice& slice, const Counted& pool, const DeviceResources& resources,
          ToldByNode& by_node) {
  const std::string resource(resources.OfDevices(slice.driver, slice.product));
  if (resource.empty() || slice.node_name.empty()) return;
  const std::string_view type = resources.TypeOf(slice.driver);
  const std::int64_t usable = OfType(slice.usable, type), tainted = OfType(slice.tainted, type);
  if (usable + tainted == 0) return;
  Told& told = by_node[slice.node_name][resource];
  const std::int64_t all = usable + tainted;
  told.usable += pool.complete ? usable : 0;
  told.lost += pool.complete ? tainted : pool.one_node ? pool.of->InWhole(all) : all;
  told.extended = told.extended && resources.IsExtended(slice.driver, slice.product);
  if (!slice.product.empty()) told.product = LabelOf(slice.product);
}

ToldByNode ToldBySlices(const api::Inputs& inputs, const DeviceResources& resources) {
  ToldByNode by_node;
  for (const auto& [pool, generations] : GenerationsOf(inputs)) {
    Counted counted{.of = &generations.rbegin()->second};
    counted.complete = counted.of->Complete();
    counted.one_node = counted.complete || NameOneNode(generations);
    for (const auto& [number, other] : generations) {
      if (!counted.complete && other.devices > counted.of->devices) counted.of = &other;
    }
    for (const api::ResourceSlice* slice : counted.of->slices) {
      Tell(*slice, counted, resources, by_node);
    }
  }
  return by_node;
}

void Add(const std::string& resource, const Told& told, const std::map<std::string, Told>& all,
         fabric::NodeFacts& facts) {
  if (told.usable > 0) facts.allocatable[resource] = told.usable;
  // Only a label counts what has no amount here: the same devices.
  std::erase_if(facts.capacity, [&](const auto& one) {
    return one.first == resource ||
           (fabric::IsAcceleratorResource(one.first) && !facts.allocatable.contains(one.first) &&
            !all.contains(one.first));
  });
  if (told.lost > 0) facts.capacity[resource] = told.usable + told.lost;
  if (!told.extended) facts.device_access.push_back({resource, true});
  if (!told.product.empty()) facts.labels.Set(fabric::kProductOfDevices, told.product);
}

bool Reports(const fabric::NodeFacts& facts, const std::string& resource) {
  const auto found = facts.allocatable.find(resource);
  return found != facts.allocatable.end() && found->second > 0;
}

}  // namespace

ClaimDemand::ClaimDemand(const api::Inputs& inputs) : inputs_(inputs), resources_(inputs) {
  for (const api::ClaimTemplate& one : inputs.claim_templates) {
    of_templates_[one.meta.key] = &one.requests;
  }
  for (const api::ResourceClaim& one : inputs.resource_claims) {
    of_claims_[one.meta.key] = &one.requests;
  }
}

Resources ClaimDemand::AmountsOf(const std::vector<api::DeviceRequest>& requests) const {
  Resources amounts;
  for (const api::DeviceRequest& request : requests) {
    const std::string resource(resources_.OfClass(request.device_class));
    if (resource.empty() || request.count == 0) continue;
    const std::string driver(resources_.DriverOf(request.device_class));
    AddTo(amounts, {{resource, request.all ? MostOnANode(driver) : request.count}});
  }
  return amounts;
}

// The most devices of a driver that one slice has: what a request for all of a node asks for.
std::int64_t ClaimDemand::MostOnANode(const std::string& driver) const {
  const auto [most, is_new] = most_on_a_node_.try_emplace(driver, 1);
  if (!is_new) return most->second;
  for (const api::ResourceSlice& slice : inputs_.resource_slices) {
    if (slice.driver != driver) continue;
    for (const auto& [type, count] : slice.usable) most->second = std::max(most->second, count);
  }
  return most->second;
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
  const ToldByNode by_node = ToldBySlices(inputs, DeviceResources(inputs));
  std::set<std::string> resources;
  for (const auto& [node, of_node] : by_node) {
    for (const auto& [resource, told] : of_node) resources.insert(resource);
  }
  for (std::size_t n = 0; n < nodes.size() && !resources.empty(); ++n) {
    const auto found = by_node.find(nodes[n].facts.name);
    for (const std::string& resource : resources) {
      const bool reported = Reports(nodes[n].facts, resource);
      const bool listed = found != by_node.end() && found->second.contains(resource);
      if (reported && !listed) {
        nodes.Edit(n).facts.device_access.push_back({resource, false});
      } else if (!reported && listed) {
        Add(resource, found->second.at(resource), found->second, nodes.Edit(n).facts);
      }
    }
  }
  return nodes;
}

}  // namespace weft::cluster
