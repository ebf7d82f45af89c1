#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "operator/objective/instance.h"

namespace weft::placement {

struct ExactResult {
  bool finished = false;          // every placement was evaluated or ruled out
  Objective least;                // meaningful where finished
  std::optional<Candidate> best;  // by the whole order of DESIGN section 4
};

// Branch and bound over all placements of a small job: first the least preferences and cost, then,
// among the answers within the tolerance, the least by the levels after the cost and names.
// Interchangeable nodes and unused domains are tried once.
//
// `known` are placements found before; they only speed up the search. Gives up (finished false) if
// the job or the remaining fabric is too large, or after `steps` tree nodes.
// Cost  each tree node O(workers x nodes), at most 64 nodes after leaving out look-alikes.
ExactResult SearchExactly(const Instance& instance, std::span<const Candidate> known,
                          int tolerance_percent, std::uint32_t steps);

}  // namespace weft::placement
