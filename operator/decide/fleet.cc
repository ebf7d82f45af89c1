#include "operator/decide/fleet.h"

#include <algorithm>

namespace weft::decide {
namespace {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

void CountAccelerators(const ClusterFabric& on, NodeIndex node, NodeUse use, FleetFigures& fleet) {
  const fabric::Fabric& fabric = *on.fabric;
  for (fabric::ResourceIndex r = 0; r < fabric.resources().size(); ++r) {
    const std::int64_t all = fabric.allocatable(node, r);
    if (!fabric.IsAccelerator(r) || all == 0) continue;
    const std::int64_t free = std::clamp<std::int64_t>(on.claims.free(node, r), 0, all);
    FleetFigures::Accelerators& accelerators = fleet.accelerators[fabric.resources()[r]];
    accelerators.used += all - free;
    const bool away = use == NodeUse::kCordoned || use == NodeUse::kUnusable;
    (away ? accelerators.unavailable : accelerators.free) += free;
  }
}

// One domain's free nodes, by accelerators, those with most first.
struct FreeNodes {
  std::vector<std::int64_t> accelerators;  // prefix sums, 0 first
  std::int64_t count() const { return static_cast<std::int64_t>(accelerators.size()) - 1; }
};

class Level {
 public:
  Level(const ClusterFabric& on, const std::vector<NodeUse>& uses, Tier tier)
      : on_(on), domains_(on.fabric->domains(tier)), uses_(uses) {
    level_.name = on.fabric->tiers()[tier].name;
    level_.domains = domains_.size();
    std::int64_t largest = 1;
    for (DomainIndex d = 0; d < domains_.size(); ++d) {
      largest = std::max<std::int64_t>(largest, domains_.begin[d + 1] - domains_.begin[d]);
    }
    for (std::int64_t nodes = 1; nodes <= largest; nodes *= 2)
      level_.slots.push_back({nodes, 0, 0});
  }

  FleetFigures::Level Measure(std::int64_t free_accelerators, bool list) {
    for (FleetFigures::Slots& slots : level_.slots) slots.stranded = free_accelerators;
    for (DomainIndex d = 0; d < domains_.size(); ++d) {
      const FreeNodes free = FreeIn(d);
      level_.largest_free_block = std::max(level_.largest_free_block, free.count());
      for (FleetFigures::Slots& slots : level_.slots) {
        const std::int64_t here = free.count() / slots.nodes;
        slots.free += here;
        slots.stranded -= free.accelerators[static_cast<std::size_t>(here * slots.nodes)];
      }
      if (!list) continue;
      level_.each.push_back(
          {domains_.names[d], domains_.begin[d + 1] - domains_.begin[d], free.count()});
    }
    return std::move(level_);
  }

 private:
  FreeNodes FreeIn(DomainIndex d) const {
    std::vector<std::int64_t> accelerators;
    for (NodeIndex n = domains_.begin[d]; n < domains_.begin[d + 1]; ++n) {
      if (uses_[n] == NodeUse::kFree) accelerators.push_back(on_.fabric->accelerators(n));
    }
    std::sort(accelerators.rbegin(), accelerators.rend());
    FreeNodes free{{0}};
    for (const std::int64_t one : accelerators) {
      free.accelerators.push_back(free.accelerators.back() + one);
    }
    return free;
  }

  const ClusterFabric& on_;
  const fabric::TierDomains& domains_;
  const std::vector<NodeUse>& uses_;
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
  std::vector<NodeUse> uses(fabric.node_count());
  for (NodeIndex n = 0; n < fabric.node_count(); ++n) {
    uses[n] = UseOf(on, n);
    ++fleet.nodes[static_cast<std::size_t>(uses[n])];
    CountAccelerators(on, n, uses[n], fleet);
  }
  std::int64_t free = 0;
  for (const auto& [resource, accelerators] : fleet.accelerators) free += accelerators.free;
  for (Tier t = 0; t <= fabric.node_tier(); ++t) {
    const bool list =
        t > fabric::kOutside && t < fabric.node_tier() && fabric.domains(t).size() <= most_domains;
    fleet.levels.push_back(Level(on, uses, t).Measure(free, list));
  }
  return fleet;
}

}  // namespace weft::decide
