#include "operator/placement/limits.h"

namespace weft::placement {

SearchLimits LimitsOf(Effort effort) {
  SearchLimits limits;
  switch (effort) {
    case Effort::kQuick:
      limits.refine_starts = 0;
      limits.refine_steps = 0;
      limits.refine_steps_per_piece = 0;
      limits.improve_steps = 20'000;
      limits.exact_steps = 5'000;
      limits.tilings = 4;
      break;
    case Effort::kNormal:
      break;
    case Effort::kThorough:
      limits.exact_steps = 2'000'000;
      limits.improve_steps = 2'000'000;
      limits.refine_steps = 200'000;
      limits.refine_steps_per_piece = 600;
      limits.refine_starts = 8;
      limits.refine_cells = 512;
      limits.tilings = 200;
      break;
  }
  return limits;
}

std::optional<Effort> FindEffort(std::string_view name) {
  if (name == "quick") return Effort::kQuick;
  if (name == "normal") return Effort::kNormal;
  if (name == "thorough") return Effort::kThorough;
  return std::nullopt;
}

}  // namespace weft::placement
