#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/objective/job_grid.h"

namespace weft::placement {

// An order in which the workers are placed, and its tiles: while a domain of tier t has room, whole
// tiles of units[t] workers go into it.
struct Layout {
  std::vector<std::uint32_t> workers;  // a permutation
  std::vector<std::uint32_t> units;    // by tier; 1 where the tier has no tile

  friend bool operator==(const Layout&, const Layout&) = default;
};

// The workers of the grid, tile by tile. nest[0] is the largest tile; each tile is a multiple of
// the next. Within the last tile, and among the tiles inside one tile, digits run in the order
// given (fastest first).
std::vector<std::uint32_t> Walk(std::span<const std::uint32_t> grid, std::span<const Shape> nest,
                                std::span<const std::size_t> digits);

// The digits of the grid, ordered by crossing bytes, most first: workers along the first digits
// should stay close.
std::vector<std::size_t> HeaviestFirst(std::span<const double> weights);

// Reorders `workers` so that the workers of an atom are consecutive, at all tiers, widest first;
// keeps the order otherwise.
void KeepAtomsTogether(const Instance& instance, std::vector<std::uint32_t>& workers);

// Bytes per worker and training step that cross each digit of the grid (fastest digit first).
std::vector<double> AxisWeights(const traffic::WorkerGraph& graph,
                                std::span<const std::uint32_t> grid);

// The tile of at most `room` workers with the fewest bytes per worker across its border. Its size
// along each digit divides the grid's and is a multiple of `inner`'s. Ties go to the larger tile.
// Cost  product of the numbers of divisors of the digits.
Shape BestTile(std::span<const std::uint32_t> grid, std::span<const std::uint32_t> inner,
               std::span<const double> weights, std::uint64_t room);

}  // namespace weft::placement
