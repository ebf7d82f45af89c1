#pragma once

#include "operator/base/units.h"
#include "operator/placement/instance.h"

namespace weft::placement {

// A cost that no placement of the instance can beat that meets its hard rules and is as good in
// the levels before the cost as `reached`.
//
// The cost is, tier by tier, the step in weight towards the next wider tier times the bytes that
// cross between domains of the tier. Those bytes are bounded from below in three ways, and the
// largest counts:
//   - by degree: in a domain with room for K workers each worker keeps at most its K - 1 heaviest
//     neighbours, so the rest of its bytes cross;
//   - by surface (surface.h): what leaves any set of so many workers of the grid of axes;
//   - by units (units.h): either a unit of workers that send each other much is broken, and pays
//     its least cut, or it is whole and rooms count in whole units. With b units broken, the others
//     pay at least their own surface in the grid of units. At least as many are broken as the rooms
//     cannot hold whole; every number of them is looked at, and the least sum counts.
// Groups of workers that must share a domain are units that cannot be broken.
// Where a scale-up network crosses the tree, its domains are also taken as the only tier: whatever
// leaves one costs at least the cheapest level.
//
// Cost  O(nodes + edges) per natural tile and tier.
Int128 LowerBound(const Instance& instance, const Preferences& reached);

}  // namespace weft::placement
