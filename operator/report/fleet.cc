#include "operator/report/fleet.h"

#include <algorithm>
#include <optional>
#include <set>

namespace weft::report {
namespace {

using cluster::ClusterFabric;

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

// Those that are free to take; nothing if the node has none.
std::optional<std::int64_t> CountAccelerators(const ClusterFabric& on, NodeIndex node, NodeUse use,
                                              FleetFigures& fleet) {
  std::optional<std::int64_t> to_take;
  const fabric::Fabric& fabric = *on.fabric;
  for (fabric::ResourceIndex r{0}; r < fabric.resources().EndIndex(); ++r) {
    const std::int64_t all = fabric.capacity(node, r), offered = fabric.allocatable(node, r);
    if (!fabric.IsAccelerator(r) || all == 0) continue;
    const std::int64_t left = std::clamp(on.claims.free(node, r), -all, offered);
    const std::int64_t free = std::max<std::int64_t>(0, left), used = std::min(offered - left, all);
    FleetFigures::Accelerators& accelerators = fleet.accelerators[{
        fabric.resources()[r], fabric.pools()[fabric.pool(node)].UnitOf(fabric.resources()[r])}];
    accelerators.used += used;
    accelerators.unavailable += std::max<std::int64_t>(0, all - used - free);
    const bool away = use == NodeUse::kCordoned || use == NodeUse::kUnusable;
    (away ? accelerators.unavailable : accelerators.free) += free;
    to_take = to_take.value_or(0) + (away ? 0 : free);
  }
  return to_take;
}

// What the accelerators of a pool's nodes are: one kind, or the product of all.
std::string KindOf(const fabric::Fabric& fabric, fabric::PoolIndex p) {
  const fabric::Pool& pool = fabric.pools()[p];
  std::set<std::string> kinds;
  for (fabric::ResourceIndex r{0}; r < fabric.resources().EndIndex(); ++r) {
    if (!fabric.IsAccelerator(r) || !fabric.PoolOffers(p, r)) continue;
    kinds.insert(pool.UnitOf(fabric.resources()[r]));
  }
  return kinds.size() == 1 ? *kinds.begin() : pool.product;
}

using Kinds = IndexVector<fabric::PoolIndex, std::string>;

// Free nodes in order of accelerators, most first.
struct FreeNodes {
  std::vector<std::int64_t> accelerators;  // prefix sums, 0 first
  std::int64_t count() const { return static_cast<std::int64_t>(accelerators.size()) - 1; }
};

class LevelCounter {
 public:
  LevelCounter(const ClusterFabric& on, const fabric::ByNode<NodeUse>& uses, const Kinds& kinds,
               Tier tier)
      : on_(on), domains_(on.fabric->domains(tier)), uses_(uses), kinds_(kinds) {
    level_.name = on.fabric->tiers()[tier].name;
    level_.domains = domains_.size();
    for (DomainIndex d{0}; d < domains_.EndIndex(); ++d) {
      largest_ = std::max<std::int64_t>(largest_, domains_.begin[d + 1] - domains_.begin[d]);
    }
  }

  // `free_by_product`: number of free accelerators, by KindOf.
  FleetFigures::Level Measure(const std::map<std::string, std::int64_t>& free_by_product,
                              bool list) {
    for (const auto& [product, free] : free_by_product) {
      first_slots_[product] = level_.slots.size();
      for (std::int64_t nodes = 1; nodes <= largest_; nodes *= 2) {
        level_.slots.push_back({product, nodes, 0, free});
      }
    }
    for (DomainIndex d{0}; d < domains_.EndIndex(); ++d) {
      std::int64_t free = 0;
      for (const auto& [pool, nodes] : FreeIn(d)) {
        free += nodes.count();
        CountSlots(kinds_[pool], nodes);
      }
      level_.largest_free_block = std::max(level_.largest_free_block, free);
      if (!list) continue;
      level_.each.push_back({domains_.names[d], domains_.begin[d + 1] - domains_.begin[d], free});
    }
    return std::move(level_);
  }

 private:
  void CountSlots(const std::string& product, const FreeNodes& free) {
    const auto first = first_slots_.find(product);
    if (first == first_slots_.end()) return;
    for (std::size_t s = first->second;
         s < level_.slots.size() && level_.slots[s].product == product; ++s) {
      FleetFigures::Slots& slots = level_.slots[s];
      const std::int64_t here = free.count() / slots.nodes;
      slots.free += here;
      slots.stranded -= free.accelerators[static_cast<std::size_t>(here * slots.nodes)];
    }
  }

  std::map<fabric::PoolIndex, FreeNodes> FreeIn(DomainIndex d) const {
    std::map<fabric::PoolIndex, std::vector<std::int64_t>> accelerators;
    for (NodeIndex n = domains_.begin[d]; n < domains_.begin[d + 1]; ++n) {
      if (uses_[n] != NodeUse::kFree) continue;
      accelerators[on_.fabric->pool(n)].push_back(on_.fabric->accelerators(n));
    }
    std::map<fabric::PoolIndex, FreeNodes> free;
    for (auto& [pool, each] : accelerators) {
      std::sort(each.rbegin(), each.rend());
      std::vector<std::int64_t>& sums = free[pool].accelerators;
      sums.push_back(0);
      for (const std::int64_t one : each) sums.push_back(sums.back() + one);
    }
    return free;
  }

  const ClusterFabric& on_;
  const fabric::TierDomains& domains_;
  const fabric::ByNode<NodeUse>& uses_;
  const Kinds& kinds_;
  std::int64_t largest_ = 1;
  std::map<std::string, std::size_t> first_slots_;  // of each product, in level_.slots
  FleetFigures::Level level_;
};

}  // namespace

std::string_view NodeUseName(NodeUse use) {
  constexpr std::string_view kNames[kNodeUses] = {"free", "partial", "full", "cordoned",
                                                  "unusable"};
  return kNames[static_cast<std::size_t>(use)];
}

NodeUse UseOf(const ClusterFabric& on, NodeIndex node) {
  if (!on.fabric->usable(node)) return NodeUse::kUnusable;
  if (on.fabric->node(node).unschedulable) return NodeUse::kCordoned;
  if (on.claims.wholly_free(node)) return NodeUse::kFree;
  return on.claims.free_accelerators(node) > 0 ? NodeUse::kPartial : NodeUse::kFull;
}

FleetFigures MeasureFleet(const ClusterFabric& on, std::uint32_t most_domains) {
  const fabric::Fabric& fabric = *on.fabric;
  FleetFigures fleet;
  fabric::ByNode<NodeUse> uses(fabric.node_count());
  IndexVector<fabric::PoolIndex, std::optional<std::int64_t>> free_in(fabric.pools().EndIndex());
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    uses[n] = UseOf(on, n);
    ++fleet.nodes[static_cast<std::size_t>(uses[n])];
    if (const auto free = CountAccelerators(on, n, uses[n], fleet)) {
      auto& sum = free_in[fabric.pool(n)];
      sum = sum.value_or(0) + *free;
    }
  }
  Kinds kinds(fabric.pools().EndIndex());
  std::map<std::string, std::int64_t> free;
  for (fabric::PoolIndex p{0}; p < free_in.EndIndex(); ++p) {
    kinds[p] = KindOf(fabric, p);
    if (free_in[p]) free[kinds[p]] += *free_in[p];
  }
  for (Tier t{0}; t <= fabric.node_tier(); ++t) {
    const bool list =
        t > fabric::kOutside && t < fabric.node_tier() && fabric.domains(t).size() <= most_domains;
    fleet.levels.push_back(LevelCounter(on, uses, kinds, t).Measure(free, list));
  }
  return fleet;
}

}  // namespace weft::report
