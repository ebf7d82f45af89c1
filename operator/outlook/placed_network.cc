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

// The slot of ranks that share a node, beside those of the tiers; and of a scale-up network that
// crosses the levels.
struct Slots {
  std::size_t node, crossing, count;
};

class Router {
 public:
  explicit Router(const Place& place)
      : place_(place),
        fabric_(*place.fabric),
        slots_{fabric_.node_tier(), fabric_.node_tier() + 1, fabric_.node_tier() + 2} {
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
  };

  // Narrowest first: the node, a crossing scale-up network, then the tiers outwards.
  std::vector<std::size_t> Order() const {
    std::vector<std::size_t> order = {slots_.node, slots_.crossing};
    for (std::size_t tier = slots_.node; tier-- > 0;) order.push_back(tier);
    return order;
  }

  // The link that carries what two nodes send each other.
  std::size_t SlotOf(NodeIndex a, NodeIndex b) const {
    const auto crossing = fabric_.crossing_scale_up();
    Tier tier = fabric_.SharedTier(a, b);
    if (nested_ && tier == *nested_ && !may_scale_up_ && tier > 0) --tier;
    const bool shared = !crossing.empty() && may_scale_up_ && crossing[a] == crossing[b];
    const bool faster = shared && fabric_.scale_up_link().femtoseconds_per_byte <
                                      fabric_.tiers()[tier].link.femtoseconds_per_byte;
    return faster ? slots_.crossing : tier;
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
      worst_[slots_.node] = {true, 1, 1};
    }
    if (nodes_.size() < 2) return;
    for (const std::size_t slot : Used()) Tally(slot);
  }

  // The slots that the ring passes over.
  std::vector<std::size_t> Used() {
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const std::size_t slot = SlotOf(nodes_[i], nodes_[(i + 1) % nodes_.size()]);
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
    const bool node = slot == slots_.node, crossing = slot == slots_.crossing;
    const bool scale_up = node || crossing || (nested_ && slot == *nested_);
    const fabric::Link& link = node       ? fabric_.node_link()
                               : crossing ? fabric_.scale_up_link()
                                          : fabric_.tiers()[slot].link;
    const double efficiency = scale_up ? kScaleUpEfficiency : kNetworkEfficiency;
    Crossing out;
    out.bytes_per_second = efficiency * 1e15 / static_cast<double>(link.femtoseconds_per_byte);
    out.line_bytes_per_second =
        std::max(efficiency * static_cast<double>(link.bandwidth_per_gpu), out.bytes_per_second);
    out.members = worst_[slot].members;
    out.exits = worst_[slot].exits;
    // A switched scale-up network gives every member its own port.
    if (scale_up) out.members = out.exits = 1;
    out.latency_seconds =
        std::max(kStepLatencySeconds, static_cast<double>(link.latency_nanoseconds) * 1e-9);
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
