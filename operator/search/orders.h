#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/objective/job_grid.h"

namespace weft::search {

// An order in which the workers are placed, and its tiles: while a domain of tier t has room, whole
// tiles of units[t] workers go into it.
struct Layout {
  std::vector<WorkerIndex> workers;     // a permutation
  fabric::ByTier<std::uint32_t> units;  // by tier; 1 where the tier has no tile

  friend bool operator==(const Layout&, const Layout&) = default;
};

// The workers of the grid, tile by tile. nest[0] is the largest tile; each tile is a multiple of
// the next. Within the last tile, and among the tiles inside one tile, digits run in the order
// given (fastest first).
std::vector<WorkerIndex> Walk(std::span<const std::uint32_t> grid,
                              std::span<const objective::Shape> nest,
                              std::span<const std::size_t> digits);

// Reorders `workers` so that the workers of an atom are consecutive, at all tiers, widest first;
// keeps the order otherwise.
void KeepAtomsTogether(const objective::Instance& instance, std::vector<WorkerIndex>& workers);

}  // namespace weft::search
