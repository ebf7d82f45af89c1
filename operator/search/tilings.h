#pragma once

#include <vector>

#include "operator/search/tiling.h"

namespace weft::search {

// Tilings that are worth trying: for every natural tile of the job and for single workers, with and
// without larger boxes that fit the usual domain, in a few orders of the axes.
std::vector<Tiling> TilingsFor(const objective::Instance& instance, const objective::Tree& tree);

}  // namespace weft::search
