#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/placement/instance.h"

namespace weft::placement {

// A job taken apart into units of workers that send each other much: a box of the grid of axes
// each. An expert group, a ring of context, or the stages of one replica are such units.
struct Units {
  std::vector<std::uint32_t> tile;  // workers of a unit along each digit of the grid
  std::uint32_t size = 1;           // workers in a unit; all units are alike
  std::vector<std::uint32_t> grid;  // of the units
  std::vector<std::uint32_t> of;    // unit of each worker

  std::uint32_t count() const { return static_cast<std::uint32_t>(of.size()) / size; }
};
Units MakeUnits(std::span<const std::uint32_t> grid, std::span<const std::uint32_t> tile,
                std::uint32_t workers);

// Tiles whose units keep much of the traffic inside that cuts through, in a few sizes: for each
// digit and its divisors, where the bytes that leave a unit drop by more than a longer piece of a
// ring explains. Never a single worker, nor the whole job.
//
// Cost  O(edges x divisors of the digits).
std::vector<std::vector<std::uint32_t>> NaturalTiles(const traffic::WorkerGraph& graph,
                                                     std::span<const std::uint32_t> grid);

// What a unit is worth, taken over all units, so that it holds for each of them.
struct UnitTraffic {
  std::vector<traffic::Edge> between;  // units, ascending; traffic of cliques is left out
  std::int64_t least_cut = 0;          // bytes between the parts of a unit in two
  std::int64_t each_pair = 0;          // bytes between any two workers of a unit
};
UnitTraffic MeasureUnits(const traffic::WorkerGraph& graph, const Units& units);

}  // namespace weft::placement
