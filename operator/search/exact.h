#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "operator/objective/instance.h"

namespace weft::placement {

struct ExactResult {
  bool finished = false;          // every placement was evaluated or ruled out
  Objective least;                // set if `finished`
  std::optional<Candidate> best;  // by all levels of the objective, then names
};

// Branch and bound over all placements of a small job. It first finds the least preferences and
// cost, then, within the tolerance, the best by the levels after the cost and names. Of
// interchangeable nodes and unused domains only one is tried.
//
// `known` are placements found before; they only speed up the search. It gives up (finished is
// false) if the job or the remaining fabric is too large, or after `steps` tree nodes.
// Cost  O(workers x nodes) for each tree node; at most 64 nodes remain after interchangeable ones
//       are removed.
ExactResult SearchExactly(const Instance& instance, std::span<const Candidate> known,
                          int tolerance_percent, std::uint32_t steps);

}  // namespace weft::placement
