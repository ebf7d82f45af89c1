#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/units.h"
#include "operator/fabric/fabric.h"
#include "operator/traffic/worker_graph.h"

namespace weft::placement {

// w(pair) of DESIGN section 4: femtoseconds per byte between two nodes of a fabric, for one job.
// A wider level is never cheaper than a narrower one. The scale-up link carries the bytes if it is
// faster than the level's link and the job may use it.
class PairCost {
 public:
  PairCost(const fabric::Fabric& fabric, bool claims_compute_domain);

  fabric::Tier SharedTier(fabric::NodeIndex a, fabric::NodeIndex b) const {
    return fabric_->SharedTier(a, b);
  }

  // The tier whose link carries the pair's bytes: SharedTier, or the tier of the scale-up network
  // if that is faster (its nested tier, or kCrossingScaleUp).
  fabric::Tier CarryingTier(fabric::NodeIndex a, fabric::NodeIndex b) const;
  static constexpr fabric::Tier kCrossingScaleUp = ~fabric::Tier{0};

  // The pair's weight; 0 if both are the same node. Rails that either node lacks scale it up.
  std::int64_t Weight(fabric::NodeIndex a, fabric::NodeIndex b) const {
    if (codes_ == nullptr) return a == b ? 0 : SlowWeight(a, b);
    return weight_by_bit_[static_cast<std::size_t>(std::bit_width(codes_[a] ^ codes_[b]))];
  }
  // Weight of a tier for nodes with all rails; 0 for the node tier.
  std::int64_t TierWeight(fabric::Tier tier) const { return weight_[tier]; }
  // Femtoseconds per byte of the link between two ranks; of the node link if both are on one
  // node.
  std::int64_t LinkWeight(fabric::NodeIndex a, fabric::NodeIndex b) const;

  std::span<const std::int64_t> tier_weights() const { return weight_; }
  // A lower bound of the weight of all pairs whose narrowest shared tier is `widest_shared` or
  // wider.
  std::int64_t LeastWeight(fabric::Tier widest_shared) const;

  // True if weights depend only on the shared tier: no node lacks rails and no network crosses.
  bool hierarchical() const { return hierarchical_; }
  const fabric::Fabric& fabric() const { return *fabric_; }

 private:
  std::int64_t SlowWeight(fabric::NodeIndex a, fabric::NodeIndex b) const;

  const fabric::Fabric* fabric_;
  // The nodes' path codes if weights depend only on the shared tier, else null.
  const std::uint64_t* codes_ = nullptr;
  std::array<std::int64_t, 65> weight_by_bit_{};  // by the highest bit in which two codes differ
  std::vector<std::int64_t> weight_;              // by tier, widest first
  std::int64_t crossing_weight_ = 0;
  bool crossing_ = false;
  bool hierarchical_ = true;
};

// One clique's share of C(p).
// Cost  O(members x (log members + tiers)); members squared if the pair cost is not hierarchical.
Int128 CliqueCost(const PairCost& pair_cost, const traffic::Clique& clique,
                  std::span<const fabric::NodeIndex> nodes);

// C(p): the sum over worker pairs on different nodes of T{i,j} * Weight.
// Cost  O(edges + clique members x tiers).
Int128 Cost(const PairCost& pair_cost, const traffic::WorkerGraph& graph,
            std::span<const fabric::NodeIndex> nodes);

}  // namespace weft::placement
