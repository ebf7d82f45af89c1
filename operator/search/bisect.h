#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/search/box_layouts.h"

namespace weft::placement {

// A node for every vertex of a grid, of as many nodes anywhere in a torus. The grid is cut in two
// where the fewest bytes cross, the nodes along the dimension in which they lie furthest apart, and
// so on. Places count from the corner of `around`, which may run over the end of a dimension.
//
// Shapes  nodes: one per vertex, in any order; a node stands once for each vertex that it takes.
//         The result: by vertex.
// Cost    O(vertices x log^2 vertices + pairs of the digits x vertices).
// Source  Deveci, Rajamanickam, Devine, Catalyurek, "Multi-Jagged: A Scalable Parallel Spatial
//         Partitioning Algorithm", IEEE TPDS 27, 2016, and its use for mapping tasks to a torus.
std::vector<fabric::NodeIndex> LayByBisection(std::span<const DigitTraffic> digits,
                                              const fabric::Torus& torus, const Box& around,
                                              std::vector<fabric::NodeIndex> nodes);

}  // namespace weft::placement
