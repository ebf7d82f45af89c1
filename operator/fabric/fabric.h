#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/base/shared_list.h"
#include "operator/fabric/incomplete.h"
#include "operator/fabric/node_facts.h"
#include "operator/fabric/pools.h"
#include "operator/fabric/spec.h"
#include "operator/fabric/tiers.h"
#include "operator/fabric/torus.h"

namespace weft::fabric {

// An immutable model of one fabric. It is built again when nodes change, and all readers share it.
class Fabric {
 public:
  struct Options {
    // What to do if labels contradict each other. true: Build fails (plan, lint). false: the nodes
    // of the smaller side are listed as incomplete and not used (operator).
    bool refuse_inconsistent = true;
    // The most watts that one accelerator of a product draws with its share of the server, 0 if
    // unknown. Null: all are unknown.
    std::function<double(std::string_view product)> peak_watts = nullptr;
  };

  // Cost O(nodes * (labels looked up + log nodes)) time, memory linear in nodes.
  // Errors kInvalid with the field's path in `spec`, or with both nodes that contradict each other.
  static Result<Fabric> Build(FabricSpec spec, SharedList<NodeFacts> nodes, Options options);

  const FabricSpec& spec() const { return spec_; }

  // Tiers, widest first: tiers().front() is `outside`, tiers().back() is the node.
  IndexSpan<Tier, const TierInfo> tiers() const { return tiers_; }
  Tier node_tier() const { return tiers_.EndIndex() - 1; }
  const TierDomains& domains(Tier tier) const { return domains_[tier]; }
  std::optional<Tier> FindTier(const std::string& name) const;  // also "outside", "node"

  // The scale-up network, if any: its tier if it nests; else it is the first of planes().
  std::optional<Tier> nested_scale_up() const { return nested_scale_up_; }
  const Plane* crossing_scale_up() const {
    return spec_.scale_up && !nested_scale_up_ ? planes_.data() : nullptr;
  }
  const Link& scale_up_link() const { return scale_up_link_; }
  const Link& node_link() const { return node_link_; }

  // The networks beside the levels that divide the nodes: a scale-up network whose domains cross
  // the levels, then those of spec().planes.
  std::span<const Plane> planes() const { return planes_; }
  // Equal for two nodes that share a domain of every plane; 0 without planes.
  DomainIndex plane_class(NodeIndex n) const {
    return plane_class_.empty() ? DomainIndex{0} : plane_class_[n];
  }

  // The torus beside the levels, or null. Nodes that share a domain of torus_tier() are in one
  // torus.
  const Torus* torus() const { return torus_ ? &*torus_ : nullptr; }
  Tier torus_tier() const { return torus_tier_; }
  const Link& torus_link() const { return torus_link_; }
  // Domains that spec().torus->shapes names and that have no complete node: nodes or labels may
  // come later, or the name is wrong.
  const std::vector<std::string>& absent_toruses() const { return absent_toruses_; }

  bool ScaleUpNeedsClaim() const {
    return spec_.scale_up && spec_.scale_up->requires_claim == ScaleUpRequires::kComputeDomain;
  }

  std::uint32_t node_count() const { return static_cast<std::uint32_t>(nodes_.size()); }
  const NodeFacts& node(NodeIndex n) const { return nodes_[n.Raw()]; }
  // Rank of the node's name among all nodes of the fabric, to break ties by name.
  std::uint32_t name_rank(NodeIndex n) const { return name_rank_[n]; }
  std::optional<NodeIndex> FindNode(const std::string& name) const;

  // Each node's path in the tree as one number. From the highest bit in which two codes differ,
  // parting_tier(bit) gives the narrowest tier that both nodes share. Empty if 64 bits are too few.
  IndexSpan<NodeIndex, const std::uint64_t> path_codes() const { return path_codes_; }
  Tier parting_tier(int bit) const { return parting_tier_[static_cast<std::size_t>(bit)]; }

  // The narrowest tier that the two nodes share; the node tier if they are the same node.
  Tier SharedTier(NodeIndex a, NodeIndex b) const {
    if (path_codes_.empty()) return SlowSharedTier(a, b);
    const std::uint64_t parted = path_codes_[a] ^ path_codes_[b];
    if (parted == 0) return node_tier();
    return parting_tier(static_cast<int>(std::bit_width(parted)) - 1);
  }

  // How many of spec().rails->count rails the node has; all nodes are equal if rails or
  // leafLabelKeys are absent. With leafLabelKeys, the narrowest domains are sets of nodes that
  // share most leaves (rail_sets.h).
  int rails_of(NodeIndex n) const { return rails_.empty() ? 1 : rails_[n]; }
  int rails_full() const { return spec_.rails ? spec_.rails->count : 1; }
  bool any_degraded() const { return any_degraded_; }

  // Resource names by ResourceIndex. An amount is 0 if the node does not list the resource.
  IndexSpan<ResourceIndex, const std::string> resources() const { return resources_; }
  std::optional<ResourceIndex> FindResource(const std::string& name) const;
  // What the node has, allocatable or not; of accelerators only, else what is allocatable.
  std::int64_t capacity(NodeIndex n, ResourceIndex r) const {
    return capacity_.empty() ? allocatable(n, r)
                             : capacity_[std::size_t{n.Raw()} * resources_.size() + r.Raw()];
  }
  std::int64_t allocatable(NodeIndex n, ResourceIndex r) const {
    return allocatable_[std::size_t{n.Raw()} * resources_.size() + r.Raw()];
  }
  // Sums over the accelerator resources, for a node and for the nodes of a domain.
  std::int64_t accelerators(NodeIndex n) const { return accelerators_[n]; }
  std::int64_t AcceleratorsIn(Tier tier, DomainIndex d) const {
    const auto& begin = domains_[tier].begin;
    return accelerators_before_[begin[d + 1]] - accelerators_before_[begin[d]];
  }
  bool IsAccelerator(ResourceIndex r) const { return accelerator_resource_[r]; }

  // Pools (pools.h), by product, then capacity type. A node whose labels name no product counts as
  // spec().accelerator_model; a node without an accelerator has no product.
  IndexSpan<PoolIndex, const Pool> pools() const { return pools_; }
  PoolIndex pool(NodeIndex n) const { return pool_[n]; }
  bool PoolOffers(PoolIndex pool, ResourceIndex r) const {
    return pool_offers_[pool.Raw() * resources_.size() + r.Raw()] != 0;
  }
  // Options::peak_watts of the pool's product.
  double peak_watts(PoolIndex pool) const { return peak_watts_[pool]; }
  // Whether a tier has a limit of power.
  bool limits_power() const { return limits_power_; }

  // Why no pod may run here, whatever it tolerates (not Ready, spec.unusable); "" if usable.
  const std::string& unusable_why(NodeIndex n) const { return unusable_why_[n]; }
  bool usable(NodeIndex n) const { return unusable_why_[n].empty(); }

  // Nodes of one taint class have equal unusable_why(), unschedulable, taints and device_access, so
  // tolerations are checked once per class. taint_classes()[c] is the first node of class c.
  std::uint32_t taint_class(NodeIndex n) const { return taint_class_[n]; }
  std::span<const NodeIndex> taint_classes() const { return taint_classes_; }

  // Selected nodes that lack a label or whose labels contradict those of another node; no worker is
  // placed on them.
  std::span<const IncompleteNode> incomplete() const { return incomplete_; }
  std::span<const Inconsistency> inconsistencies() const { return inconsistencies_; }
  // Kinds of nodes without labels of the network, each a flat pool.
  std::span<const UnlabelledKind> unlabelled_kinds() const { return unlabelled_kinds_; }

 private:
  friend class FabricBuilder;

  Tier SlowSharedTier(NodeIndex a, NodeIndex b) const;

  FabricSpec spec_;
  ByTier<TierInfo> tiers_;
  ByTier<TierDomains> domains_;
  std::optional<Tier> nested_scale_up_;
  std::vector<Plane> planes_;
  ByNode<DomainIndex> plane_class_;
  Link scale_up_link_;
  Link node_link_;
  std::optional<Torus> torus_;
  Tier torus_tier_ = kOutside;
  Link torus_link_;
  std::vector<std::string> absent_toruses_;
  SharedList<NodeFacts> nodes_;
  ByNode<std::uint32_t> name_rank_;
  std::vector<NodeIndex> by_name_;
  ByNode<std::uint64_t> path_codes_;
  std::array<Tier, 64> parting_tier_{};
  ByNode<int> rails_;
  bool any_degraded_ = false;
  IndexVector<ResourceIndex, std::string> resources_;
  IndexVector<ResourceIndex, bool> accelerator_resource_;
  std::vector<std::int64_t> allocatable_;  // node-major
  std::vector<std::int64_t> capacity_;     // the same; empty if no node has more than allocatable
  ByNode<std::int64_t> accelerators_;
  ByNode<std::int64_t> accelerators_before_;  // sum over all earlier nodes; nodes + 1 entries
  IndexVector<PoolIndex, Pool> pools_;
  ByNode<PoolIndex> pool_;
  std::vector<std::uint8_t> pool_offers_;  // pool-major
  IndexVector<PoolIndex, double> peak_watts_;
  bool limits_power_ = false;
  ByNode<std::string> unusable_why_;
  ByNode<std::uint32_t> taint_class_;
  std::vector<NodeIndex> taint_classes_;
  std::vector<IncompleteNode> incomplete_;
  std::vector<Inconsistency> inconsistencies_;
  std::vector<UnlabelledKind> unlabelled_kinds_;
};

}  // namespace weft::fabric
