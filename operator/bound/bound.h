#pragma once

#include <functional>

#include "operator/base/units.h"
#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

namespace weft::bound {

// A lower bound of the cost of all placements that meet the instance's hard rules and are as good
// as `reached` in the levels before the cost.
//
// The cost is a sum over tiers: the step in weight to the next wider tier, times the bytes between
// domains of the tier. Two bounds hold for these bytes: the least bytes that leave a set of k
// workers of the grid of axes (surface.h), for all tiers together (nest_sum.h); and, for each tier
// alone, degrees: in a domain with room for K workers, a worker has at most its K - 1 heaviest
// neighbours beside it. Workers that must share a domain of a tier count as one unit at this tier
// and wider ones. If a scale-up network crosses the tree, its domains are used as the narrowest
// tier too. On a torus the hops between neighbours are a third bound (hop_bound.h).
//
// Cost  O(nodes x tiers + edges), plus SearchLimits::bound_steps for each home.
class JobBound {
 public:
  // `instance` must outlive this object.
  JobBound(const objective::Instance& instance, const objective::Preferences& reached);
  JobBound(const JobBound&) = delete;

  Int128 least() const { return least_; }
  // The bound, raised by prices (part_prices.h) if it is below `cost`, the cost of a known plan.
  // Continues from the sums of least(), once: later calls return the same.
  //
  // Cost  SearchLimits::price_steps additions; the bound is not raised if a few rounds would need
  //       more.
  Int128 Raise(Int128 cost);

 private:
  std::function<double(double target)> raise_;  // null for a single worker
  Int128 least_ = 0;
};

// The bound in one call, and the raised one.
Int128 LowerBound(const objective::Instance& instance, const objective::Preferences& reached);
Int128 RaisedBound(const objective::Instance& instance, const objective::Preferences& reached,
                   Int128 cost);

}  // namespace weft::bound
