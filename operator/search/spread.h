#pragma once

#include <span>
#include <vector>

#include "operator/search/box_layouts.h"

namespace weft::search {

// Puts the vertices of a layout on as many nodes of a torus, which may be anywhere in it, so that
// vertices that are near in the layout are near in the torus. The layout's box is cut in two along
// its longest dimension, and the nodes are cut along the same dimension into parts of the same
// sizes; the halves are cut in the same way. Places count from the corner of `around`, which may
// run past the end of a dimension that wraps.
//
// Shapes  nodes: one per vertex, in any order. The result: by vertex.
// Cost    O(vertices x log^2 vertices).
// Source  as LayByBisection (bisect.h), but both sides are cut by geometry.
std::vector<fabric::NodeIndex> SpreadLayout(const BoxLayout& layout, const fabric::Torus& torus,
                                            const objective::Box& around,
                                            std::vector<fabric::NodeIndex> nodes);

}  // namespace weft::search
