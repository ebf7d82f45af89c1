#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/search/box_layouts.h"

namespace weft::search {

// Assigns the vertices of a grid to as many nodes of a torus, which may be anywhere in it. The grid
// is cut in two where the fewest bytes cross, and the nodes are cut in two along the dimension in
// which they lie furthest apart; the halves are cut in the same way. Places count from the corner
// of `around`, which may run past the end of a dimension that wraps.
//
// Shapes  nodes: one per vertex, in any order, of one torus; a node is listed once for each vertex
//         that it takes. The result: by vertex.
// Cost    O(vertices x log^2 vertices + pairs of the digits x vertices).
// Source  Deveci, Rajamanickam, Devine, Catalyurek, "Multi-Jagged: A Scalable Parallel Spatial
//         Partitioning Algorithm", IEEE TPDS 27, 2016, and its use for mapping tasks to a torus.
std::vector<fabric::NodeIndex> LayByBisection(std::span<const DigitTraffic> digits,
                                              const fabric::Torus& torus,
                                              const objective::Box& around,
                                              std::vector<fabric::NodeIndex> nodes);

}  // namespace weft::search
