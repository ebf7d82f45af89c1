#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

namespace weft::search {

// Jobs with more workers are not searched exactly.
inline constexpr std::uint32_t kMostExactWorkers = 16;

struct ExactResult {
  bool finished = false;                     // every placement was evaluated or ruled out
  objective::Objective least;                // set if `finished`
  std::optional<objective::Candidate> best;  // by all levels of the objective, then names
};

// Limits of SearchExactly, in places tried: a worker put on a node, with the work that follows.
struct ExactLimits {
  std::uint32_t steps = 0;      // while it looks for the least preferences and cost
  std::uint32_t tie_steps = 0;  // while it then looks for the best by the later levels
};

// Branch and bound over all placements of a small job. It first finds the least preferences and
// cost, then, within the tolerance, the best by the levels after the cost and names. Of
// interchangeable nodes and unused domains only one is tried.
//
// `known` are placements found before; they only speed up the search. `bound` is a lower bound of
// the cost of every placement that reaches all preferences: a known placement with this cost needs
// no first search. The search gives up (finished is false) if the job or the remaining fabric is
// too large, or after `limits.steps`. If only the second search runs out of steps, the result is
// finished, and `best` the best found.
// Cost  O(workers x nodes) for each place tried; at most 64 nodes remain after interchangeable ones
//       are removed.
ExactResult SearchExactly(const objective::Instance& instance,
                          std::span<const objective::Candidate> known, Int128 bound,
                          int tolerance_percent, const ExactLimits& limits);

}  // namespace weft::search
