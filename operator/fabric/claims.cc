#include "operator/fabric/claims.h"

#include <map>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/units.h"

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
  bool pods_given = false;
  for (const auto& [name, amount] : amounts) {
    const std::optional<ResourceIndex> r = fabric_->FindResource(name);
    if (!r) continue;
    pods_given = pods_given || name == kPods;
    std::int64_t& free = free_[Slot(node, *r)];
    free = to_free(free, amount);
    if (!fabric_->IsAccelerator(*r)) continue;
    used_accelerators_[node] = to_used(used_accelerators_[node], amount);
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
