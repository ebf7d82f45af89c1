#pragma once

#include <vector>

#include "operator/search/free_places.h"

namespace weft::search {

using BoxPath = std::vector<fabric::TorusPlace>;

// Paths that visit every place of a small box once: a snake, whose steps are single hops, and
// rings, whose last place leads back to the first. A box of one dimension has a folded ring, whose
// steps are two hops; a box with an odd number of places has no ring. `stride`: the hops of one
// step along a dimension; most steps are along the dimension with the least stride.
std::vector<BoxPath> PathsThrough(const objective::TorusSize& size,
                                  const objective::TorusSize& stride);

}  // namespace weft::search
