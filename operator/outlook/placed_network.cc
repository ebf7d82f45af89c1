#include "operator/outlook/placed_network.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "operator/outlook/constants.h"

namespace weft::outlook {
namespace {

using fabric::Fabric;
using fabric::NodeIndex;
using fabric::Tier;
using traffic::Axis;

// The slot of ranks that share a node, beside those of the tiers; of a scale-up network that
// crosses the levels; and of a torus.
struct Slots {
  std::size_t node, crossing, torus, count;
};

class Router {
 public:
  explicit Router(const Place& place)
      : place_(place),
        fabric_(*place.fabric),
        slots_{fabric_.node_tier(), fabric_.node_tier() + 1, fabric_.node_tier() + 2,
               fabric_.node_tier() + 3} {
    const bool usable = !fabric_.ScaleUpNeedsClaim() || place.claims_compute_domain;
    nested_ = fabric_.nested_scale_up();
    may_scale_up_ = usable;
  }

  Path PathOf(const traffic::GroupFamily& family, std::uint32_t per_worker) {
    worst_.assign(slots_.count, {});
    for (std::size_t g = 0; g < family.groups(); ++g) Walk(family.group(g), per_worker);
    Path path;
    path.ranks = family.group_size;
    for (const std::size_t slot : Order()) {
      if (worst_[slot].used) path.crossings.push_back(CrossingOf(slot));
    }
    return path;
  }

 private:
  struct Worst {
    bool used = false;
    double members = std::numeric_limits<double>::infinity();
    double exits = 1;
    std::uint32_t hops = 1;  // links that a message crosses, of the longest way
  };

  // Narrowest first: the node, the networks beside the levels, then the tiers outwards.
  std::vector<std::size_t> Order() const {
    std::vector<std::size_t> order = {slots_.node, slots_.crossing, slots_.torus};
    for (std::size_t tier = slots_.node; tier-- > 0;) order.push_back(tier);
    return order;
  }

  // The link that carries what two nodes send each other.
  std::size_t SlotOf(NodeIndex a, NodeIndex b) const {
    const auto crossing = fabric_.crossing_scale_up();
    Tier tier = fabric_.SharedTier(a, b);
    if (nested_ && tier == *nested_ && !may_scale_up_ && tier > 0) --tier;
    std::size_t slot = tier;
    std::int64_t least = fabric_.tiers()[tier].link.femtoseconds_per_byte;
    const bool shared = !crossing.empty() && may_scale_up_ && crossing[a] == crossing[b];
    if (shared && fabric_.scale_up_link().femtoseconds_per_byte < least) {
      slot = slots_.crossing;
      least = fabric_.scale_up_link().femtoseconds_per_byte;
    }
    const fabric::Torus* torus = fabric_.torus();
    const bool faster = torus != nullptr && torus->SameTorus(a, b) &&
                        torus->Hops(a, b) * fabric_.torus_link().femtoseconds_per_byte < least;
    return faster ? slots_.torus : slot;
  }

  // The side of a node from which a slot's link leads out: the next narrower domain, or the node.
  std::uint32_t SideOf(std::size_t slot, NodeIndex node) const {
    if (slot >= slots_.node) return node;
    Tier narrower = static_cast<Tier>(slot) + 1;
    if (nested_ && narrower == *nested_ && !may_scale_up_) ++narrower;
    return fabric_.domains(narrower).of_node[node];
  }

  void Walk(std::span<const std::uint32_t> ranks, std::uint32_t per_worker) {
    nodes_.clear();
    members_.clear();
    for (const std::uint32_t rank : ranks) {
      const NodeIndex node = place_.nodes[rank / per_worker];
      if (members_[node]++ == 0) nodes_.push_back(node);
    }
    if (nodes_.size() < ranks.size()) {
      worst_[slots_.node] = {true, 1, 1, 1};
    }
    if (nodes_.size() < 2) return;
    for (const std::size_t slot : Used()) Tally(slot);
  }

  // The slots that the ring passes over.
  std::vector<std::size_t> Used() {
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const NodeIndex from = nodes_[i], to = nodes_[(i + 1) % nodes_.size()];
      const std::size_t slot = SlotOf(from, to);
      if (slot == slots_.torus) {
        worst_[slot].hops = std::max(worst_[slot].hops, fabric_.torus()->Hops(from, to));
      }
      if (std::find(used.begin(), used.end(), slot) == used.end()) used.push_back(slot);
    }
    return used;
  }

  // How many members each side has, and how often the ring leaves it by this link or a wider one.
  void Tally(std::size_t slot) {
    std::map<std::uint32_t, std::pair<double, double>> sides;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      auto& [members, exits] = sides[SideOf(slot, nodes_[i])];
      members += members_[nodes_[i]];
      const std::uint32_t next = SideOf(slot, nodes_[(i + 1) % nodes_.size()]);
      if (next != SideOf(slot, nodes_[i])) exits += 1;
    }
    Worst& worst = worst_[slot];
    worst.used = true;
    for (const auto& [side, count] : sides) {
      const auto& [members, exits] = count;
      if (exits == 0 || members / exits >= worst.members / worst.exits) continue;
      worst.members = members;
      worst.exits = exits;
    }
  }

  Crossing CrossingOf(std::size_t slot) const {
    const bool scale_up = slot >= slots_.node || (nested_ && slot == *nested_);
    const fabric::Link& link = slot == slots_.node       ? fabric_.node_link()
                               : slot == slots_.crossing ? fabric_.scale_up_link()
                               : slot == slots_.torus    ? fabric_.torus_link()
                                                         : fabric_.tiers()[slot].link;
    const double efficiency = scale_up ? kScaleUpEfficiency : kNetworkEfficiency;
    const double hops = worst_[slot].hops;
    Crossing out;
    out.bytes_per_second =
        efficiency * 1e15 / static_cast<double>(link.femtoseconds_per_byte) / hops;
    out.line_bytes_per_second = std::max(
        efficiency * static_cast<double>(link.bandwidth_per_gpu) / hops, out.bytes_per_second);
    out.members = worst_[slot].members;
    out.exits = worst_[slot].exits;
    // A switched scale-up network gives every member its own port, a torus its own links.
    if (scale_up) out.members = out.exits = 1;
    out.latency_seconds =
        std::max(kStepLatencySeconds, hops * static_cast<double>(link.latency_nanoseconds) * 1e-9);
    return out;
  }

  const Place& place_;
  const Fabric& fabric_;
  const Slots slots_;
  std::optional<Tier> nested_;
  bool may_scale_up_ = false;
  std::vector<Worst> worst_;  // by slot, of one family
  std::vector<NodeIndex> nodes_;
  std::map<NodeIndex, std::uint32_t> members_;
};

// Whether a family of gradients is that of the dense parameters.
bool IsDense(const Layout& layout, Axis axis, std::uint32_t group_size) {
  const Degrees d = DegreesOf(layout);
  const bool hybrid = layout.parallelism.sharding == traffic::Sharding::kHybrid;
  const double shard = hybrid ? d.shard_group : d.gradient_group;
  const double expected = hybrid && axis == Axis::kData ? d.gradient_group / shard : shard;
  return static_cast<double>(group_size) == expected;
}

}  // namespace

Network NetworkOf(const Layout& layout, const traffic::Traffic& traffic, const Place& place) {
  Network network;
  Router router(place);
  for (const traffic::GroupFamily& family : traffic.families) {
    const Path path = router.PathOf(family, traffic.per_worker);
    const bool gradients = family.axis == Axis::kData || family.axis == Axis::kSharding;
    const bool seen = network[family.axis].ranks > 1;
    if (gradients && (seen || !IsDense(layout, family.axis, family.group_size))) {
      network.expert_gradients = path;
    } else {
      network[family.axis] = path;
    }
  }
  return network;
}

}  // namespace weft::outlook
