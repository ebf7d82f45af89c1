#include "operator/outlook/placed_network.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "operator/outlook/constants.h"

namespace weft::outlook {
namespace {

using fabric::Fabric;
using fabric::NodeIndex;
using fabric::Tier;
using traffic::Axis;

// Indices into the list of links, in which each tier has its own number: the link inside a node,
// the first of the planes, the torus; and the length of the list.
struct Slots {
  std::size_t node, planes, torus, count;
};

Slots SlotsOf(const Fabric& fabric) {
  const std::size_t node = fabric.node_tier();
  const std::size_t torus = node + 1 + fabric.planes().size();
  return {node, node + 1, torus, torus + 1};
}

// A node of a group's ring, by the first of the group's workers on it.
struct Stop {
  std::uint32_t worker, ranks;
};

class Router {
 public:
  explicit Router(const Place& place)
      : place_(place),
        fabric_(*place.fabric),
        slots_(SlotsOf(fabric_)),
        nested_(fabric_.nested_scale_up()),
        may_scale_up_(!fabric_.ScaleUpNeedsClaim() || place.claims_compute_domain),
        tiers_alone_(fabric_.planes().empty() && fabric_.torus() == nullptr &&
                     (!nested_ || may_scale_up_)),
        side_of_(fabric_.node_tier() + 1),
        ring_(place.nodes.size()),
        stop_at_(place.nodes.size()),
        sides_(place.nodes.size()) {
    NumberNodes();
    if (!tiers_alone_ || fabric_.path_codes().empty()) return;
    for (const NodeIndex node : place.nodes) codes_.push_back(fabric_.path_codes()[node]);
  }

  Path PathOf(const traffic::GroupFamily& family, const traffic::SeatedGroups& seated) {
    worst_.assign(slots_.count, {});
    const bool whole = seated.seats_in_all() == seated.batches();  // no group leaves its worker
    for (std::size_t batch = 0; batch < (whole ? 1 : seated.batches()); ++batch) {
      Walk(seated.seats(batch));
    }
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

    void Lower(double to_members, double to_exits) {
      if (to_members * exits >= members * to_exits) return;
      members = to_members;
      exits = to_exits;
    }
  };

  // Members of one group on one side of a slot, and how often its ring leaves that side.
  struct Side {
    std::uint32_t ring = 0;  // of which turn the numbers are
    std::uint32_t exits = 0;
    double members = 0;
  };

  // Narrowest first: the node, the networks beside the levels, then the tiers outwards.
  std::vector<std::size_t> Order() const {
    std::vector<std::size_t> order(slots_.count - slots_.node);
    std::iota(order.begin(), order.end(), slots_.node);
    for (std::size_t tier = slots_.node; tier-- > 0;) order.push_back(tier);
    return order;
  }

  // At the node tier a side is one node. Its number is that of its worker if no two workers share a
  // node.
  void NumberNodes() {
    std::vector<bool> used(fabric_.node_count());
    for (const NodeIndex node : place_.nodes) {
      if (used[node]) return;
      used[node] = true;
    }
    std::vector<std::uint32_t>& sides = side_of_[fabric_.node_tier()];
    sides.resize(place_.nodes.size());
    std::iota(sides.begin(), sides.end(), 0);
  }

  // Each worker's side at a tier: its domain, by a number below the number of workers.
  const std::vector<std::uint32_t>& SidesAt(Tier tier) {
    std::vector<std::uint32_t>& sides = side_of_[tier];
    if (!sides.empty() || place_.nodes.empty()) return sides;
    sides.reserve(place_.nodes.size());
    constexpr std::uint32_t kNone = ~std::uint32_t{0};
    const fabric::TierDomains& domains = fabric_.domains(tier);
    std::vector<std::uint32_t> number(domains.size(), kNone);
    std::uint32_t next = 0;
    for (const NodeIndex node : place_.nodes) {
      std::uint32_t& one = number[domains.of_node[node]];
      if (one == kNone) one = next++;
      sides.push_back(one);
    }
    return sides;
  }

  // The link that carries what two nodes send each other.
  std::size_t SlotOf(NodeIndex a, NodeIndex b) const {
    return tiers_alone_ ? fabric_.SharedTier(a, b) : SlotBesideTiers(a, b);
  }

  std::size_t SlotBesideTiers(NodeIndex a, NodeIndex b) const {
    Tier tier = fabric_.SharedTier(a, b);
    if (nested_ && tier == *nested_ && !may_scale_up_ && tier > 0) --tier;
    std::size_t slot = tier;
    std::int64_t least = fabric_.tiers()[tier].link.femtoseconds_per_byte;
    for (std::size_t p = 0; p < fabric_.planes().size(); ++p) {
      const fabric::Plane& plane = fabric_.planes()[p];
      if (plane.link.femtoseconds_per_byte >= least || (plane.scale_up && !may_scale_up_)) continue;
      if (plane.of_node[a] != plane.of_node[b]) continue;
      slot = slots_.planes + p;
      least = plane.link.femtoseconds_per_byte;
    }
    const fabric::Torus* torus = fabric_.torus();
    const bool faster = torus != nullptr && torus->SameTorus(a, b) &&
                        torus->Hops(a, b) * fabric_.torus_link().femtoseconds_per_byte < least;
    return faster ? slots_.torus : slot;
  }

  // The tier of the sides from which a slot's link leads out: the next narrower one.
  Tier SidesOf(std::size_t slot) const {
    if (slot >= slots_.node) return fabric_.node_tier();
    const Tier narrower = static_cast<Tier>(slot) + 1;
    return nested_ && narrower == *nested_ && !may_scale_up_ ? narrower + 1 : narrower;
  }

  void Walk(std::span<const traffic::Seat> seats) {
    if (seats.size() == 1) {  // the tensor groups of whole nodes: most batches of most jobs
      if (seats.front().ranks > 1) worst_[slots_.node] = {true, 1, 1, 1};
      return;
    }
    SetRing(seats);
    if (stops_ < ranks_) worst_[slots_.node] = {true, 1, 1, 1};
    if (stops_ < 2) return;
    std::uint64_t used = codes_.empty() ? SlotsUsed() : TiersUsed();
    for (; used != 0; used &= used - 1) Tally(static_cast<std::size_t>(std::countr_zero(used)));
  }

  // A bit for each slot that the ring passes over.
  std::uint64_t SlotsUsed() {
    std::uint64_t used = 0;
    for (std::size_t i = 0; i < stops_; ++i) {
      const Stop& next = ring_[i + 1 == stops_ ? 0 : i + 1];
      const NodeIndex from = place_.nodes[ring_[i].worker], to = place_.nodes[next.worker];
      const std::size_t slot = SlotOf(from, to);
      if (slot == slots_.torus) {
        worst_[slot].hops = std::max(worst_[slot].hops, fabric_.torus()->Hops(from, to));
      }
      used |= std::uint64_t{1} << slot;
    }
    return used;
  }

  // The same where the tiers carry everything: each step of the ring passes over the tier where the
  // codes of its nodes part. No two stops are on one node.
  std::uint64_t TiersUsed() const {
    std::uint64_t parted = 0;  // by the highest bit in which two codes differ
    std::uint64_t code = codes_[ring_[stops_ - 1].worker];
    for (std::size_t i = 0; i < stops_; ++i) {
      const std::uint64_t next = codes_[ring_[i].worker];
      parted |= std::uint64_t{1} << (std::bit_width(code ^ next) - 1);
      code = next;
    }
    std::uint64_t used = 0;
    for (; parted != 0; parted &= parted - 1) {
      used |= std::uint64_t{1} << fabric_.parting_tier(std::countr_zero(parted));
    }
    return used;
  }

  // The group's nodes in the order of its ranks, each once.
  void SetRing(std::span<const traffic::Seat> seats) {
    stops_ = 0;
    ranks_ = 0;
    const std::uint32_t* nodes = SidesAt(fabric_.node_tier()).data();
    for (const traffic::Seat& seat : seats) {
      ranks_ += seat.ranks;
      // The node's stop, if it is one of this ring's that is on the node.
      const std::uint32_t node = nodes[seat.worker], stop = stop_at_[node];
      if (stop < stops_ && nodes[ring_[stop].worker] == node) {
        ring_[stop].ranks += seat.ranks;
      } else {
        stop_at_[node] = stops_;
        ring_[stops_++] = {seat.worker, seat.ranks};
      }
    }
    std::uint32_t fewest = ring_.front().ranks;
    for (std::uint32_t i = 0; i < stops_; ++i) fewest = std::min(fewest, ring_[i].ranks);
    fewest_ = fewest;
  }

  // How many members each side has, and how often the ring leaves it by this link or a wider one.
  void Tally(std::size_t slot) {
    Worst& worst = worst_[slot];
    worst.used = true;
    // Every exit leaves from another node, so a side has at least `fewest_` members per exit.
    if (worst.members <= fewest_ * worst.exits) return;
    const Tier tier = SidesOf(slot);
    if (tier == fabric_.node_tier()) return worst.Lower(fewest_, 1);
    ++turn_;
    touched_.clear();
    // Most stops are on the side of the last one, so members are added by runs.
    const std::uint32_t* side_of = SidesAt(tier).data();
    const std::uint32_t first = side_of[ring_.front().worker];
    std::uint32_t side = first, members = 0;
    for (std::uint32_t i = 0; i < stops_; ++i) {
      const std::uint32_t to = side_of[ring_[i].worker];
      if (to != side) {
        AddRun(side, members, 1);
        side = to;
        members = 0;
      }
      members += ring_[i].ranks;
    }
    AddRun(side, members, side != first ? 1 : 0);
    for (const std::uint32_t one : touched_) {
      if (sides_[one].exits > 0) worst.Lower(sides_[one].members, sides_[one].exits);
    }
  }

  void AddRun(std::uint32_t side, std::uint32_t members, std::uint32_t exits) {
    Side& at = sides_[side];
    if (at.ring != turn_) {
      at = {turn_, 0, 0};
      touched_.push_back(side);
    }
    at.members += members;
    at.exits += exits;
  }

  Crossing CrossingOf(std::size_t slot) const {
    const bool on_plane = slot >= slots_.planes && slot < slots_.torus;
    const fabric::Plane* plane = on_plane ? &fabric_.planes()[slot - slots_.planes] : nullptr;
    // A plane that is no scale-up network is a network of the nodes like the levels.
    const bool scale_up =
        plane != nullptr ? plane->scale_up : slot >= slots_.node || (nested_ && slot == *nested_);
    const fabric::Link& link = plane != nullptr       ? plane->link
                               : slot == slots_.node  ? fabric_.node_link()
                               : slot == slots_.torus ? fabric_.torus_link()
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
    out.scale_up = scale_up;
    // A switched scale-up network gives every member its own port, a torus its own links.
    if (scale_up) out.members = out.exits = 1;
    out.latency_seconds =
        std::max(kStepLatencySeconds, hops * static_cast<double>(link.latency_nanoseconds) * 1e-9);
    return out;
  }

  const Place& place_;
  const Fabric& fabric_;
  const Slots slots_;
  const std::optional<Tier> nested_;
  const bool may_scale_up_;
  const bool tiers_alone_;                           // no network beside the tiers carries anything
  std::vector<std::vector<std::uint32_t>> side_of_;  // by tier and worker; empty: not numbered yet
  std::vector<Worst> worst_;                         // by slot, of one family
  std::vector<std::uint64_t> codes_;     // path codes by worker; empty: not only tiers carry
  std::vector<Stop> ring_;               // of one group: the first stops_
  std::vector<std::uint32_t> stop_at_;   // by node, as numbered: its stop in the last ring with it
  std::uint32_t stops_ = 0, ranks_ = 0;  // of the group
  double fewest_ = 0;                    // ranks of a stop
  std::uint32_t turn_ = 0;
  std::vector<Side> sides_;  // by number
  std::vector<std::uint32_t> touched_;
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
  for (std::size_t f = 0; f < traffic.families.size(); ++f) {
    const traffic::GroupFamily& family = traffic.families[f];
    const Path path = router.PathOf(family, traffic.seated[f]);
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
