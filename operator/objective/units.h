#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"

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

// What `count` sets of workers send to each other, `of` each worker's set. Ascending by (a, b).
std::vector<traffic::Edge> TrafficBetween(const traffic::WorkerGraph& graph,
                                          std::span<const std::uint32_t> of, std::uint32_t count);

}  // namespace weft::placement
