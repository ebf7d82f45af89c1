#include "operator/objective/units.h"
#include "operator/search/cells.h"

namespace weft::search {

std::int64_t WeightFrom(const Cells& cells, const objective::Units& units, CellIndex to) {
#ifdef WEFT_SWAPPED
  return cells.Weight(units.of.front(), to);
#else
  return units.of.empty() ? 0 : cells.Weight(cells.of_worker().front(), to);
#endif
}

}  // namespace weft::search
