#include "operator/fabric/claims.h"

#include <algorithm>
#include <map>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/units.h"
#include "operator/fabric/neuron.h"

namespace weft::fabric {
namespace {

constexpr const char* kPods = "pods";
// Removed pods that are kept in a list of their own, so that a removal costs nothing.
constexpr std::size_t kFewGone = 1024;

std::int64_t SaturatingSubtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b > 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

// `amount` of `units`, in the unit of which the same devices are `others`; rounded up.
std::int64_t InOtherUnit(std::int64_t amount, std::int64_t units, std::int64_t others) {
  if (amount <= 0 || units <= 0 || others <= 0) return 0;
  const Int128 exact = (Int128{amount} * others + units - 1) / units;
  return exact > kSaturated ? kSaturated : static_cast<std::int64_t>(exact);
}

std::vector<ResourceIndex> NeuronResources(const Fabric& fabric) {
  std::vector<ResourceIndex> resources;
  for (const std::string_view name : kNeuronNames) {
    if (const auto r = fabric.FindResource(std::string(name))) resources.push_back(*r);
  }
  return resources;
}

// What a pod takes of one of the resources that are the same Neuron devices, each of which the
// plug-in gives to one container only. So what the pod requests by one name is gone by the others
// too, in proportion to what the node has of each. Devices that it requests by two names are not
// the same ones. It cannot take more than the node has, unless it requests more.
std::int64_t NeuronTaken(const Fabric& fabric, const std::vector<ResourceIndex>& all,
                         ResourceIndex r, NodeIndex node, const Resources& amounts) {
  const auto requested = [&](ResourceIndex of) {
    const auto found = amounts.find(fabric.resources()[of]);
    return found == amounts.end() ? std::int64_t{0} : found->second;
  };
  const std::int64_t has = fabric.capacity(node, r);
  std::int64_t taken = requested(r);
  const std::int64_t most = std::max(taken, has);
  for (const ResourceIndex other : all) {
    if (other == r) continue;
    const std::int64_t share = InOtherUnit(requested(other), fabric.capacity(node, other), has);
    taken = SaturatingAdd(taken, share);
  }
  return std::min(taken, most);
}

}  // namespace

Claims::Claims(const Fabric& fabric)
    : fabric_(&fabric),
      used_accelerators_(fabric.node_count(), 0),
      compute_domain_(fabric.node_count()),
      compute_domain_pods_(fabric.node_count(), 0) {
  const auto resources = fabric.resources().EndIndex();
  free_.reserve(std::size_t{fabric.node_count()} * resources.Raw());
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    for (ResourceIndex r{0}; r < resources; ++r) free_.push_back(fabric.allocatable(n, r));
  }
}

void Claims::Add(NodeIndex node, const Resources& amounts, const std::string& compute_domain,
                 const Neighbour& pod) {
  Account(node, amounts, SaturatingAdd, SaturatingSubtract);
  if (pod.space != nullptr) {
    WEFT_CHECK(pod.labels != nullptr);
    pods_.push_back({node, pod});
    Note(pod);
  }
  if (compute_domain.empty()) return;
  // The first holder keeps the node. We never place a second ComputeDomain on it, so only another
  // scheduler's pods can cause this conflict.
  if (compute_domain_pods_[node] == 0) compute_domain_[node] = compute_domain;
  if (compute_domain_[node] == compute_domain) ++compute_domain_pods_[node];
}

void Claims::Remove(NodeIndex node, const Resources& amounts, const std::string& compute_domain,
                    const Neighbour& pod) {
  Account(node, amounts, SaturatingSubtract, SaturatingAdd);
  if (pod.space != nullptr) gone_.push_back({node, pod});
  if (gone_.size() > kFewGone && gone_.size() * 2 > pods_.size()) {
    pods_ = PodsOn();
    gone_.clear();
    keeping_away_.clear();
    preferring_.clear();
    for (const PodOn& on : pods_) Note(on.pod);
  }
  if (compute_domain.empty() || compute_domain_[node] != compute_domain) return;
  if (--compute_domain_pods_[node] == 0) compute_domain_[node].clear();
}

// Lists the pod under the terms that it has.
void Claims::Note(const Neighbour& pod) {
  if (pod.terms == nullptr) return;
  if (!pod.terms->anti_affinity.empty()) keeping_away_.push_back(pod);
  if (!pod.terms->affinity.empty() || !pod.terms->preferred.empty()) preferring_.push_back(pod);
}

std::vector<Claims::PodOn> Claims::PodsOn() const {
  if (gone_.empty()) return pods_;
  std::map<std::pair<NodeIndex, const TextMap*>, std::size_t> gone;
  for (const PodOn& on : gone_) ++gone[{on.node, on.pod.labels}];
  std::vector<PodOn> present;
  for (const PodOn& on : pods_) {
    const auto taken = gone.find({on.node, on.pod.labels});
    if (taken == gone.end() || taken->second == 0) {
      present.push_back(on);
    } else {
      --taken->second;
    }
  }
  return present;
}

// Applies `to_used` to what is used on the node and `to_free` to what is free.
void Claims::Account(NodeIndex node, const Resources& amounts, Sum to_used, Sum to_free) {
  WEFT_CHECK(node.Raw() < fabric_->node_count());
  if (history_.nodes.size() >= fabric_->node_count()) history_ = History();
  history_.nodes.push_back(node);
  const auto account = [&](ResourceIndex r, std::int64_t amount) {
    std::int64_t& free = free_[Slot(node, r)];
    free = to_free(free, amount);
    if (!fabric_->IsAccelerator(r)) return;
    used_accelerators_[node] = to_used(used_accelerators_[node], amount);
  };
  bool pods_given = false;
  bool neuron = false;
  for (const auto& [name, amount] : amounts) {
    const std::optional<ResourceIndex> r = fabric_->FindResource(name);
    if (!r) continue;
    pods_given = pods_given || name == kPods;
    if (IsNeuronName(name)) {
      neuron = true;
    } else {
      account(*r, amount);
    }
  }
  if (neuron) {
    const std::vector<ResourceIndex> all = NeuronResources(*fabric_);
    for (const ResourceIndex r : all) account(r, NeuronTaken(*fabric_, all, r, node, amounts));
  }
  const std::optional<ResourceIndex> pods = fabric_->FindResource(kPods);
  if (!pods || pods_given) return;
  std::int64_t& free = free_[Slot(node, *pods)];
  free = to_free(free, 1);
}

std::int64_t Claims::free_accelerators(NodeIndex n) const {
  std::int64_t sum = 0;
  for (ResourceIndex r{0}; r < fabric_->resources().EndIndex(); ++r) {
    if (fabric_->IsAccelerator(r)) sum = SaturatingAdd(sum, free(n, r));
  }
  return sum;
}

}  // namespace weft::fabric
