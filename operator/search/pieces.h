#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/index.h"
#include "operator/objective/instance.h"
#include "operator/objective/units.h"
#include "operator/search/cells.h"

namespace weft::search {

using PieceIndex = Index<struct PieceTag>;
template <typename T>
using ByPiece = IndexVector<PieceIndex, T>;

// The contracted job: the workers of one unit in one cell are a piece.
struct Pieces {
  Pieces(IndexSpan<WorkerIndex, const CellIndex> cell_of,
         IndexSpan<WorkerIndex, const objective::UnitIndex> unit_of);

  std::uint32_t count() const { return EndIndex().Raw(); }
  PieceIndex EndIndex() const { return size.EndIndex(); }
  // The cell of each worker.
  ByWorker<CellIndex> CellOfWorkers() const;

  ByWorker<PieceIndex> of;      // the piece of each worker
  ByPiece<std::uint32_t> size;  // workers
  ByPiece<CellIndex> cell;
};

// The attraction between pieces: their traffic. In addition, pieces of a set that a group
// prefers in one domain, and that is in one now, attract each other by a fixed share of all
// traffic. Bytes are
// scaled down so that sums of bytes x weight fit in 63 bits; results are priced exactly
// afterwards.
class Pulls {
 public:
  struct Peer {
    PieceIndex piece{0};
    std::int64_t bytes = 0;
  };
  Pulls(const objective::Instance& instance, const Pieces& pieces, const Cells& cells);

  PieceIndex EndIndex() const { return begin_.EndIndex() - 1; }
  std::span<const Peer> of(PieceIndex piece) const {
    return std::span(peers_).subspan(begin_[piece], begin_[piece + 1] - begin_[piece]);
  }

 private:
  ByPiece<std::uint32_t> begin_;  // pieces + 1 entries
  std::vector<Peer> peers_;
};

}  // namespace weft::search
