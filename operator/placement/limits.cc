#include "operator/placement/limits.h"

namespace weft::placement {

SearchLimits LimitsOf(Effort effort) {
  SearchLimits limits;
  switch (effort) {
    case Effort::kQuick:
      limits.refine_starts = 0;
      break;
    case Effort::kNormal:
      break;
    case Effort::kThorough:
      limits.exact_steps = 2'000'000;
      limits.improve_steps = 2'000'000;
      limits.refine_steps = 400'000;
      limits.refine_starts = 6;
      limits.refine_cells = 512;
      break;
  }
  return limits;
}

}  // namespace weft::placement
