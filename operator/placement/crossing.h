#pragma once

#include <optional>
#include <vector>

#include "operator/placement/instance.h"
#include "operator/placement/tiling.h"

namespace weft::placement {

// Lays a tiling into the domains of a scale-up network that crosses the levels'
// tree: each takes whole units of the tiling's widest step that fits, the
// roomiest first, in tree order; what is left over goes to the slots that
// remain in the domains used. Nothing where no network crosses, or the workers
// do not fit.
//
// Cost  O(nodes of the home x log domains).
std::optional<std::vector<fabric::NodeIndex>> LayAcross(const Instance& instance, fabric::Tier home,
                                                        fabric::DomainIndex domain,
                                                        const Tiling& tiling);

}  // namespace weft::placement
