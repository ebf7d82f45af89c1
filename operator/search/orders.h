#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/objective/job_grid.h"

namespace weft::placement {

// An order in which to lay the workers, and the tiles it walks: whole tiles of units[t] workers go
// into one domain of tier t, as far as there is room.
struct Layout {
  std::vector<std::uint32_t> workers;  // a permutation
  std::vector<std::uint32_t> units;    // by tier; 1 where the tier has no tile

  friend bool operator==(const Layout&, const Layout&) = default;
};

// The grid tile by tile: nest[0] is the widest tile, each the multiple of the next; within the
// last one, and among the tiles of one tile, digits count in the order given (fastest first).
std::vector<std::uint32_t> Walk(std::span<const std::uint32_t> grid, std::span<const Shape> nest,
                                std::span<const std::size_t> digits);

// Digits of the grid, most crossing bytes first: the order in which workers should stay close.
std::vector<std::size_t> HeaviestFirst(std::span<const double> weights);

// Moves workers so that atoms stand together, widest tier outermost; else keeps the order.
void KeepAtomsTogether(const Instance& instance, std::vector<std::uint32_t>& workers);

// Bytes per worker and step that cross each digit of the grid (digits fastest first).
std::vector<double> AxisWeights(const traffic::WorkerGraph& graph,
                                std::span<const std::uint32_t> grid);

// The tile of at most `room` workers that cuts the fewest bytes per worker: one size per digit,
// each a divisor of the grid's and a multiple of `inner`'s. Ties go to the larger tile.
// Cost  product of the divisors of the digits.
Shape BestTile(std::span<const std::uint32_t> grid, std::span<const std::uint32_t> inner,
               std::span<const double> weights, std::uint64_t room);

}  // namespace weft::placement
