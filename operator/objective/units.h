#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"

namespace weft::objective {

// A job divided into units: boxes of the grid of axes whose workers send each other much. Examples
// of units are an expert group, a ring of context, or the stages of one replica.
struct Units {
  std::vector<std::uint32_t> tile;  // workers of a unit along each digit of the grid
  std::uint32_t size = 1;           // workers in a unit; all units have the same size
  std::vector<std::uint32_t> grid;  // sizes of the grid of units
  std::vector<std::uint32_t> of;    // the unit of each worker

  std::uint32_t count() const { return static_cast<std::uint32_t>(of.size()) / size; }
};
Units MakeUnits(std::span<const std::uint32_t> grid, std::span<const std::uint32_t> tile,
                std::uint32_t workers);

// The bytes between `count` sets of workers; `of` holds the set of each worker. Ascending by (a,
// b).
std::vector<traffic::Edge> TrafficBetween(const traffic::WorkerGraph& graph,
                                          std::span<const std::uint32_t> of, std::uint32_t count);

}  // namespace weft::objective
