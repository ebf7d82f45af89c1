#include "operator/search/pieces.h"

namespace weft::search {

std::uint32_t Slots(const Cells& cells, const Pieces& pieces, PieceIndex piece) {
#ifdef WEFT_SWAPPED
  return cells.slots(piece) + pieces.size[piece];
#else
  return cells.slots(pieces.cell[piece]) + pieces.size[piece];
#endif
}

}  // namespace weft::search
