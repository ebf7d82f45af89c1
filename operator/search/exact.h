#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "operator/objective/instance.h"

namespace weft::placement {

struct ExactResult {
  bool finished = false;          // every placement was looked at or ruled out
  Objective least;                // meaningful where finished
  std::optional<Candidate> best;  // by the whole order of DESIGN section 4
};

// Branch and bound over all placements of a small job: first the least preferences and cost, then,
// among the answers within the tolerance, the least by the levels after the cost and names. Nodes
// and untouched domains that look alike are tried once.
//
// `known` are answers found before; they only speed the search up. Gives up (finished false) where
// the job or what is left of the fabric is too big, or after `steps` tree nodes.
// Cost  each tree node O(workers x nodes), at most 64 nodes after leaving out look-alikes.
ExactResult SearchExactly(const Instance& instance, std::span<const Candidate> known,
                          int tolerance_percent, std::uint32_t steps);

}  // namespace weft::placement
