#pragma once

#include "operator/objective/instance.h"
#include "operator/placement/place.h"

namespace weft::placement {

// The number of workers that each of the request's choices of pools has room for.
// Cost  that of CountSlots.
std::vector<PoolRoom> RoomsOf(const fabric::Claims& claims, const Request& request,
                              const Options& options);

}  // namespace weft::placement
