#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

namespace weft::search {

// Open workers of one partial placement, beyond which Reseat gives up.
inline constexpr std::uint32_t kMostReseated = 1'024;

// Limits of Reseat, in nodes looked at for one worker, 10 to 50 nanoseconds each. Eight workers of
// 16,384 then take some milliseconds.
struct ReseatLimits {
  // Of the local search, over all starts: for each open worker, at least and at most.
  std::uint64_t start_looks_per_worker = 8'000, fewest_start_looks = 64'000;
  std::uint64_t looks = 50'000;      // of the search for the least cost
  std::uint64_t tie_looks = 16'000;  // of each search among placements of equal cost
  std::uint64_t most_start_looks = 1'000'000;
};

struct Reseated {
  objective::Candidate best;
  bool exact = false;  // every placement was evaluated or ruled out
};

// The best completion of a partial placement: the workers without a node get one, and all others
// stay. By the levels of the objective (levels.h); the tolerance applies to the part of the cost
// that the open workers take part in, because a percent of a large gang's cost would make all
// nodes equal for one worker.
//
// `nodes`: by worker, kUnplaced for those that need a node. `free`: by node, how many of those it
// can take. Nothing if there is no completion, or if none was found within the limits.
//
// How   Greedy starts and local search (moves and swaps of open workers), then branch and bound for
//       the least preferences and cost, then among equal ones for the later levels and names. A
//       lower bound for workers without a node is their least price with the fixed workers, plus
//       the least price between each other.
// Cost  OpenBoard's, and the limits; OpenSets' alone if the open workers are too many or too few
//       nodes are free for them.
std::optional<Reseated> Reseat(const objective::Instance& instance, objective::Nodes nodes,
                               const fabric::ByNode<std::uint32_t>& free, int tolerance_percent,
                               const ReseatLimits& limits = {});

}  // namespace weft::search
