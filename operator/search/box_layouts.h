#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/units.h"
#include "operator/objective/units.h"
#include "operator/search/free_places.h"

namespace weft::search {

// Bytes between each two values of one digit of a grid, added up over all lines along that digit.
struct DigitTraffic {
  struct Pair {
    std::uint32_t a = 0, b = 0;
    Int128 bytes = 0;
  };
  std::uint32_t size = 1;
  std::vector<Pair> pairs;
  Int128 bytes = 0;  // of all pairs

  // The bytes between the values [from, middle) and the values [middle, to).
  Int128 Across(std::uint32_t from, std::uint32_t middle, std::uint32_t to) const;
};
// The traffic of every digit, fastest digit first. `edges`: between units, the vertices of the
// grid; an edge between units that differ in several digits is left out. Cost  O(edges x digits).
std::vector<DigitTraffic> TrafficByDigit(std::span<const objective::UnitEdge> edges,
                                         std::span<const std::uint32_t> grid);

// A place in a box for every vertex of a grid; the box has as many places as the grid has vertices.
struct BoxLayout {
  objective::TorusSize size{1, 1, 1};
  std::vector<fabric::TorusPlace> places;  // by vertex, from the box's corner
  Int128 hops = 0;                         // sum of bytes x hops, of traffic along single digits
};

// For every size of box, the layout with the least sum of bytes x hops, cheapest first. Empty if no
// box of the torus has as many places as the grid has vertices.
//
// How   A digit of n vertices becomes a path through a small box of n places (box_paths.h). The
//       boxes of the heaviest digit are the innermost; the boxes of the next digit consist of these
//       boxes, and so on. Every way to divide the size of each digit among the dimensions is tried.
// Cost  ends after about `steps` pairs of vertices, but not before the first layout is found.
std::vector<BoxLayout> LayIntoBoxes(std::span<const DigitTraffic> digits,
                                    const fabric::TorusShape& torus, std::uint64_t steps);

}  // namespace weft::search
