#include "operator/cluster/devices.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "operator/api/gang_annotations.h"
#include "operator/base/units.h"
#include "operator/cluster/device_pools.h"
#include "operator/cluster/other_devices.h"
#include "operator/fabric/node_facts.h"
#include "operator/fabric/pools.h"

namespace weft::cluster {
namespace {

using api::ObjectKey;
using fabric::Resources;

void AddTo(Resources& sum, const Resources& more) {
  for (const auto& [name, amount] : more) sum[name] = SaturatingAdd(sum[name], amount);
}

// A claim with devices that count, and where they are.
struct Held {
  const api::ResourceClaim* claim = nullptr;
  std::string node;
  Resources amounts;  // without what earlier claims hold too
  bool accelerators = false;
};

class Counting {
 public:
  explicit Counting(api::Inputs& inputs) : inputs_(inputs), resources_(inputs), others_(inputs) {}

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
    for (const auto& [p, accelerators] : booked_) more_[p];
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
        const std::string resource(resources_.OfDevices(device.driver, ProductOf(device)));
        const Resources used = resource.empty() ? others_.UsedBy(device) : Resources{{resource, 1}};
        if (used.empty()) continue;
        held.accelerators = held.accelerators || !resource.empty();
        if (held.node.empty()) held.node = NodeOf(*claim, device);
        const std::string_view whole = resource.empty() ? device.name : WholeOf(device);
        if (counted.emplace(device.driver, device.pool, whole).second) AddTo(held.amounts, used);
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
        if (!held.claim->for_extended_resource) booked_[p] |= held.accelerators;
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
    const auto booked = booked_.find(p);
    if (more.empty() && booked == booked_.end()) return;
    api::Pod& pod = inputs_.pods.Edit(p);
    pod.claims.clear();
    const bool accelerators = std::any_of(
        more.begin(), more.end(), [&](const auto& one) { return !others_.HasResource(one.first); });
    if (accelerators || (booked != booked_.end() && booked->second)) {
      pod.pod.claims_accelerators = true;
    }
    AddTo(pod.pod.requests, more);
  }

  api::Inputs& inputs_;
  const DeviceResources resources_;
  const OtherDevices others_;
  std::map<PoolKey, std::vector<const api::ResourceSlice*>> pools_;
  std::map<std::size_t, std::shared_ptr<const api::Pod>> pods_;  // by index
  std::map<ObjectKey, std::size_t> by_key_;
  std::map<std::size_t, bool> booked_;  // pods whose claims have devices: whether accelerators
  std::map<std::size_t, Resources> more_;
  std::vector<api::Pod> without_pod_;
};

// What slices tell of one resource of one node.
struct Told {
  std::int64_t usable = 0, lost = 0;  // lost: tainted, or of a pool that is not complete
  bool extended = true;               // an extended resource asks for all of them
  std::string product, profile;
};
using ToldByNode = std::map<std::string_view, std::map<std::string, Told>>;

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

bool NameOneNode(const Generations& generations) {
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
  if (!slice.profile.empty()) told.profile = slice.profile;
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
  // As AMD's labeller says of what size the parts of its GPUs are.
  constexpr const char* kProfile = "amd.com/gpu.compute-memory-partition";
  if (!told.profile.empty() && !facts.labels.At(kProfile)) {
    facts.labels.Set(kProfile, told.profile);
  }
}

bool Reports(const fabric::NodeFacts& facts, const std::string& resource) {
  const auto found = facts.allocatable.find(resource);
  return found != facts.allocatable.end() && found->second > 0;
}

}  // namespace

ClaimDemand::ClaimDemand(const api::Inputs& inputs)
    : inputs_(inputs), resources_(inputs), others_(inputs) {
  for (const api::ClaimTemplate& one : inputs.claim_templates) {
    of_templates_[one.meta.key] = &one.requests;
    templates_[one.meta.key] = &one;
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
    if (of_template) AddTo(asked, OtherOf(found->first));
  }
  return asked;
}

const Resources& ClaimDemand::OtherOf(const api::ObjectKey& claim_template) const {
  const auto [asked, is_new] = other_.try_emplace(claim_template);
  if (!is_new) return asked->second;
  if (const auto requests = api::RequestsOf(*templates_.at(claim_template))) {
    asked->second = others_.AskedBy(*requests);
  }
  return asked->second;
}

Resources ClaimDemand::OtherOf(const std::string& space,
                               const std::vector<api::ClaimReference>& claims) const {
  Resources asked;
  for (const api::ClaimReference& claim : claims) {
    const api::ObjectKey key{space, claim.claim_template};
    if (claim.claim.empty() && templates_.contains(key)) AddTo(asked, OtherOf(key));
  }
  return asked;
}

void AskForOtherDevices(api::Inputs& inputs) {
  const auto claims = [](const auto& one) { return !one.claims.empty(); };
  const bool jobs = std::any_of(inputs.jobs.begin(), inputs.jobs.end(), claims);
  const bool proposals =
      std::any_of(inputs.placements.begin(), inputs.placements.end(),
                  [&](const auto& one) { return one.proposal && claims(*one.proposal); });
  if (!jobs && !proposals) return;
  const ClaimDemand demand(inputs);
  for (std::size_t j = 0; j < inputs.jobs.size(); ++j) {
    const api::TrainingJob& job = inputs.jobs[j];
    const Resources asked = demand.OtherOf(job.meta.key.space, job.claims);
    if (asked.empty()) continue;
    for (const auto& [name, amount] : asked) inputs.jobs.Edit(j).pod.requests[name] = amount;
  }
  for (std::size_t p = 0; p < inputs.placements.size(); ++p) {
    const api::Placement& one = inputs.placements[p];
    if (!one.proposal) continue;
    const Resources asked = demand.OtherOf(one.meta.key.space, one.proposal->claims);
    for (const auto& [name, amount] : asked) {
      inputs.placements.Edit(p).proposal->pod.requests[name] = amount;
    }
  }
}

void CountClaims(api::Inputs& inputs) {
  const bool asked = std::any_of(inputs.pods.begin(), inputs.pods.end(),
                                 [](const api::Pod& pod) { return !pod.claims.empty(); });
  if (asked || !inputs.resource_claims.empty()) Counting(inputs).Run();
}

SharedList<api::Node> NodesWithDevices(const api::Inputs& inputs) {
  SharedList<api::Node> nodes = inputs.nodes;
  if (inputs.resource_slices.empty() || inputs.device_classes.empty()) return nodes;
  OtherDevices(inputs).Offer(nodes);
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
