#include "operator/bound/lower.h"

#include <algorithm>

#include "operator/base/lanes.h"

namespace weft::bound {

WEFT_LANES void LowerTo(double* __restrict to, const double* __restrict from, double more,
                        std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = std::min(to[i], from[i] + more);
}

}  // namespace weft::bound
