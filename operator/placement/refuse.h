#pragma once

#include "operator/objective/instance.h"
#include "operator/placement/place.h"

namespace weft::placement {

// For each of the request's choices of pools, how many workers fit.
// Cost  like CountSlots.
std::vector<PoolRoom> RoomsOf(const fabric::Claims& claims, const Request& request,
                              const Options& options);

}  // namespace weft::placement
