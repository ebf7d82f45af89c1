#pragma once

#include <cstdint>
#include <optional>

#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

namespace weft::search {

// Local search: swaps two workers, or moves one to a free slot, while that lowers the cost without
// making the preferences worse. In small jobs every pair is tried; in large ones only partners near
// a worker's neighbours. In small jobs a few random (seeded) swaps also lead out of a local
// optimum, while steps remain and the cost is above `enough`. Returns nothing if no step helps.
//
// Cost  at most `steps` terms of the cost are looked at, each O(tiers).
std::optional<objective::Candidate> Improve(const objective::Instance& instance,
                                            const objective::Candidate& start, std::uint32_t steps,
                                            Int128 enough);

}  // namespace weft::search
