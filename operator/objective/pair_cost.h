#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "operator/base/units.h"
#include "operator/fabric/fabric.h"
#include "operator/objective/nodes.h"
#include "operator/traffic/worker_graph.h"

namespace weft::objective {

// The price of a byte between two nodes of a fabric, for one job, in femtoseconds.
//
// A fabric is a tree of levels with networks beside it (ADR 0007). A wider level is never cheaper
// than a narrower one. Beside the tree are planes (a scale-up network whose domains cross the
// levels, if the job may use it; a second network), whose domains share a link, and a torus, where
// a byte pays for each hop. A pair pays the cheapest of them. The solver knows the price of a pair
// from this class alone.
class PairCost {
 public:
  // A network that carries bytes. The tiers come first, widest first, then those beside them.
  struct Network {
    std::string_view name;
    const fabric::Link* link;
  };
  using NetworkIndex = std::uint32_t;
  // A network that divides the nodes, and that the job may use.
  struct Plane {
    const fabric::ByNode<fabric::DomainIndex>* of_node;
    std::int64_t weight;  // of two nodes of one domain
    NetworkIndex network;

    bool Joins(fabric::NodeIndex a, fabric::NodeIndex b) const {
      return (*of_node)[a] == (*of_node)[b];
    }
  };

  PairCost(const fabric::Fabric& fabric, bool claims_compute_domain);

  fabric::Tier SharedTier(fabric::NodeIndex a, fabric::NodeIndex b) const {
    return fabric_->SharedTier(a, b);
  }

  std::span<const Network> networks() const { return networks_; }
  // The network that carries the pair's bytes: that of the narrowest tier that both share; that of
  // the next wider tier if a nested scale-up network is not faster than it; or a network beside the
  // tiers if that is faster.
  NetworkIndex CarryingNetwork(fabric::NodeIndex a, fabric::NodeIndex b) const;
  // How many links of the network a byte crosses: the hops on a torus, else one.
  std::uint32_t LinksCrossed(NetworkIndex network, fabric::NodeIndex a, fabric::NodeIndex b) const {
    return network == torus_network_ ? torus_->Hops(a, b) : 1;
  }

  // The pair's weight; 0 if both are the same node. Rails that either node lacks scale it up.
  std::int64_t Weight(fabric::NodeIndex a, fabric::NodeIndex b) const {
    if (codes_ == nullptr) return a == b ? 0 : SlowWeight(a, b);
    return weight_by_bit_[static_cast<std::size_t>(
        std::bit_width(codes_[a.Raw()] ^ codes_[b.Raw()]))];
  }
  // Weight of a tier for nodes with all rails; 0 for the node tier.
  std::int64_t TierWeight(fabric::Tier tier) const { return weight_[tier]; }
  // Femtoseconds per byte of the link between two ranks: the link inside the node if both are on
  // one node.
  std::int64_t LinkWeight(fabric::NodeIndex a, fabric::NodeIndex b) const;

  IndexSpan<fabric::Tier, const std::int64_t> tier_weights() const { return weight_; }
  // The widest tier whose weight is at most this; nodes that share a domain of it gain nothing from
  // a network of this weight.
  fabric::Tier TierWithin(std::int64_t weight) const;
  // The levels whose domains cost nothing extra to leave: a byte between two of them costs what a
  // byte inside one costs. Widest first; without a scale-up network, and without levels of a single
  // domain.
  std::vector<fabric::Tier> free_levels() const;
  // What a search may add to the weight of a pair, so that of placements of equal cost it finds one
  // that stays inside free levels: a femtosecond for each free level whose domain the pair leaves,
  // less than any difference between links.
  std::int64_t Nudge(fabric::NodeIndex a, fabric::NodeIndex b) const;
  // A lower bound of the weight of all pairs whose narrowest shared tier is `widest_shared` or
  // wider.
  std::int64_t LeastWeight(fabric::Tier widest_shared) const;

  // True if weights depend only on the shared tier: no node lacks rails, and no network beside the
  // tiers can be used.
  bool hierarchical() const { return hierarchical_; }
  // A key of the node. Two nodes of the same narrowest domain have equal keys if a worker of any
  // job costs the same on both.
  std::uint64_t stand(fabric::NodeIndex n) const {
    if (torus_ != nullptr) return n.Raw();  // every place of a torus has its own distances
    const std::uint64_t plane_class = fabric_->plane_class(n).Raw();
    return plane_class << 32 | static_cast<std::uint32_t>(fabric_->rails_of(n));
  }
  // Whether networks join nodes of different domains, so that no two domains are interchangeable.
  bool beside_tiers() const { return torus_ != nullptr || !fabric_->planes().empty(); }
  std::span<const Plane> planes() const { return planes_; }
  // The fabric's torus, which all jobs may use; null if there is none.
  const fabric::Torus* torus() const { return torus_; }
  std::int64_t hop_weight() const { return hop_weight_; }
  // A lower bound of the weight of all pairs that the torus does not carry.
  std::int64_t LeastOffTorus() const { return least_off_torus_; }
  const fabric::Fabric& fabric() const { return *fabric_; }

 private:
  static constexpr NetworkIndex kNone = ~NetworkIndex{0};

  void NameNetworks(bool may_scale_up);
  bool IsFreeLevel(fabric::Tier tier) const;
  std::int64_t SlowWeight(fabric::NodeIndex a, fabric::NodeIndex b) const;
  std::int64_t LevelWeight(fabric::Tier shared, fabric::NodeIndex a, fabric::NodeIndex b) const;

  const fabric::Fabric* fabric_;
  // The nodes' path codes if weights depend only on the shared tier, else null.
  const std::uint64_t* codes_ = nullptr;
  std::array<std::int64_t, 65> weight_by_bit_{};  // by the highest bit in which two codes differ
  fabric::ByTier<std::int64_t> weight_;           // by tier, widest first
  std::vector<Network> networks_;
  std::vector<Plane> planes_;
  NetworkIndex torus_network_ = kNone;
  std::int64_t least_off_torus_ = 0;
  const fabric::Torus* torus_ = nullptr;
  std::int64_t hop_weight_ = 0;
  bool hierarchical_ = true;
};

// One clique's share of C(p).
// Cost  O(members x (log members + tiers)); members squared if the pair cost is not hierarchical.
Int128 CliqueCost(const PairCost& pair_cost, const traffic::Clique& clique, Nodes nodes);

// C(p): the sum over worker pairs on different nodes of T{i,j} * Weight.
// Cost  O(edges + clique members x tiers).
Int128 Cost(const PairCost& pair_cost, const traffic::WorkerGraph& graph, Nodes nodes);

}  // namespace weft::objective
