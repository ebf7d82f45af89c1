#pragma once

#include "operator/base/units.h"
#include "operator/objective/instance.h"

namespace weft::placement {

// A lower bound of the cost of every placement that meets the instance's hard rules and is as good
// as `reached` in the levels before the cost.
//
// The cost is, tier by tier, the step in weight towards the next wider tier times the bytes that
// cross between domains of the tier. Those bytes are bounded from below by what leaves any set of
// so many workers of the grid of axes (surface.h), over all tiers at once (nest_sum.h), and tier by
// tier by degree: in a domain with room for K workers each worker keeps at most its K - 1 heaviest
// neighbours.
// Groups of workers that must share a domain of a tier are counted whole there and in wider ones.
// Where a scale-up network crosses the tree, its domains are also taken as the narrowest tier.
//
// Cost  O(nodes x tiers + edges), and SearchLimits::bound_steps for each home.
Int128 LowerBound(const Instance& instance, const Preferences& reached);

// LowerBound, raised by prices (part_prices.h) if there is a gap to `cost`, the cost of a plan.
//
// Cost  SearchLimits::price_steps more, or none where a few rounds would cost more than that.
Int128 RaisedBound(const Instance& instance, const Preferences& reached, Int128 cost);

}  // namespace weft::placement
