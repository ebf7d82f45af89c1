#pragma once

#include <cstdint>
#include <optional>

#include "operator/objective/instance.h"

namespace weft::placement {

// Local search: swaps two workers or moves one to a free slot as long as that lowers the cost
// without making the preferences worse. Small jobs try every pair; large ones only partners near
// a worker's neighbours. Small jobs also leave a local optimum by a few random (seeded) swaps,
// while steps remain and the cost is above `enough`. Returns nothing if no step helps.
//
// Cost  at most `steps` terms of the cost looked at, each O(tiers).
std::optional<Candidate> Improve(const Instance& instance, const Candidate& start,
                                 std::uint32_t steps, Int128 enough);

}  // namespace weft::placement
