#pragma once

#include <cstddef>

namespace weft::bound {

// Lowers each entry of `to` to that of `from` plus `more`, where this is less: the inner loop of
// all sums of the bound. The lists must not overlap.
//
// Cost  O(count), several entries at a time (lanes.h).
void LowerTo(double* to, const double* from, double more, std::size_t count);

}  // namespace weft::bound
