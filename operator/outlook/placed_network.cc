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

using fabric::DomainIndex;
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
  const std::size_t node = fabric.node_tier().Raw();
  const std::size_t torus = node + 1 + fabric.planes().size();
  return {node, node + 1, torus, torus + 1};
}

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
        by_codes_(tiers_alone_ && !fabric_.path_codes().empty()),
        nodes_differ_(NodesDiffer()) {}

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

  bool NodesDiffer() const {
    fabric::ByNode<bool> used(fabric_.node_count());
    for (const NodeIndex node : place_.nodes) {
      if (used[node]) return false;
      used[node] = true;
    }
    return true;
  }

  // The link that carries what two nodes send each other.
  std::size_t SlotOf(NodeIndex a, NodeIndex b) const {
    return tiers_alone_ ? fabric_.SharedTier(a, b).Raw() : SlotBesideTiers(a, b);
  }

  std::size_t SlotBesideTiers(NodeIndex a, NodeIndex b) const {
    Tier tier = fabric_.SharedTier(a, b);
    if (nested_ && tier == *nested_ && !may_scale_up_ && tier > fabric::kOutside) --tier;
    std::size_t slot = tier.Raw();
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
    const Tier narrower = Tier::Of(slot) + 1;
    return nested_ && narrower == *nested_ && !may_scale_up_ ? narrower + 1 : narrower;
  }

  void Walk(std::span<const traffic::Seat> seats) {
    if (seats.size() == 1) {  // the tensor groups of whole nodes: most batches of most jobs
      if (seats.front().ranks > 1) worst_[slots_.node] = {true, 1, 1, 1};
      return;
    }
    SetRing(seats);
    std::uint32_t fewest = ring_.front().ranks, most = fewest;
    for (const traffic::Seat& stop : ring_) {
      fewest = std::min(fewest, stop.ranks);
      most = std::max(most, stop.ranks);
    }
    fewest_ = fewest;
    if (most > 1) worst_[slots_.node] = {true, 1, 1, 1};
    if (ring_.size() < 2) return;
    std::uint64_t used = by_codes_ ? TiersUsed() : SlotsUsed();
    for (; used != 0; used &= used - 1) Tally(static_cast<std::size_t>(std::countr_zero(used)));
  }

  // A bit for each slot that the ring passes over.
  std::uint64_t SlotsUsed() {
    std::uint64_t used = 0;
    NodeIndex from = place_.nodes[ring_.back().worker];
    for (const traffic::Seat& stop : ring_) {
      const NodeIndex to = place_.nodes[stop.worker];
      const std::size_t slot = SlotOf(from, to);
      if (slot == slots_.torus) {
        worst_[slot].hops = std::max(worst_[slot].hops, fabric_.torus()->Hops(from, to));
      }
      used |= std::uint64_t{1} << slot;
      from = to;
    }
    return used;
  }

  // The same where the tiers carry everything: each step of the ring passes over the tier where the
  // codes of its nodes part. No two stops are on one node.
  std::uint64_t TiersUsed() const {
    std::uint64_t parted = 0;  // by the highest bit in which two codes differ
    const auto codes = fabric_.path_codes();
    std::uint64_t code = codes[place_.nodes[ring_.back().worker]];
    for (const traffic::Seat& stop : ring_) {
      const std::uint64_t next = codes[place_.nodes[stop.worker]];
      parted |= std::uint64_t{1} << (std::bit_width(code ^ next) - 1);
      code = next;
    }
    std::uint64_t used = 0;
    for (; parted != 0; parted &= parted - 1) {
      used |= std::uint64_t{1} << fabric_.parting_tier(std::countr_zero(parted)).Raw();
    }
    return used;
  }

  // The group's nodes in the order of its ranks, each once.
  void SetRing(std::span<const traffic::Seat> seats) {
    const bool ascend = std::adjacent_find(seats.begin(), seats.end(), [](auto& a, auto& b) {
                          return a.worker >= b.worker;
                        }) == seats.end();
    if (ascend && nodes_differ_) {
      ring_ = seats;
      return;
    }
    stops_.resize(place_.nodes.size());
    stop_at_.resize(fabric_.node_count());
    std::uint32_t count = 0;
    for (const traffic::Seat& seat : seats) {
      // The node's stop, if it is one of this ring's that is on the node.
      const NodeIndex node = place_.nodes[seat.worker];
      const std::uint32_t stop = stop_at_[node];
      if (stop < count && place_.nodes[stops_[stop].worker] == node) {
        stops_[stop].ranks += seat.ranks;
      } else {
        stop_at_[node] = count;
        stops_[count++] = seat;
      }
    }
    ring_ = std::span(stops_).first(count);
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
    const fabric::TierDomains& domains = fabric_.domains(tier);
    if (sides_.size() < domains.size()) sides_.resize(domains.size());
    const DomainIndex first = domains.of_node[place_.nodes[ring_.front().worker]];
    DomainIndex side = first;
    std::uint32_t members = 0;
    for (const traffic::Seat& stop : ring_) {
      const DomainIndex to = domains.of_node[place_.nodes[stop.worker]];
      if (to != side) {
        AddRun(side, members, 1);
        side = to;
        members = 0;
      }
      members += stop.ranks;
    }
    AddRun(side, members, side != first ? 1 : 0);
    for (const DomainIndex one : touched_) {
      if (sides_[one].exits > 0) worst.Lower(sides_[one].members, sides_[one].exits);
    }
  }

  void AddRun(DomainIndex side, std::uint32_t members, std::uint32_t exits) {
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
    const bool scale_up = plane != nullptr
                              ? plane->scale_up
                              : slot >= slots_.node || (nested_ && slot == nested_->Raw());
    const fabric::Link& link = plane != nullptr       ? plane->link
                               : slot == slots_.node  ? fabric_.node_link()
                               : slot == slots_.torus ? fabric_.torus_link()
                                                      : fabric_.tiers()[Tier::Of(slot)].link;
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
  const bool tiers_alone_;                 // no network beside the tiers carries anything
  const bool by_codes_;                    // the codes of nodes tell which tier carries a message
  const bool nodes_differ_;                // no two workers share a node
  std::vector<Worst> worst_;               // by slot, of one family
  std::span<const traffic::Seat> ring_;    // of one group: its nodes, by the first worker on each
  std::vector<traffic::Seat> stops_;       // the ring's, if it is not the seats themselves
  fabric::ByNode<std::uint32_t> stop_at_;  // the node's stop in the last ring with it
  double fewest_ = 0;                      // ranks of a stop
  std::uint32_t turn_ = 0;
  fabric::ByDomain<Side> sides_;  // of the tier at hand
  std::vector<DomainIndex> touched_;
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
