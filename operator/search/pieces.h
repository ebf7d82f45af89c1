#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/search/cells.h"

namespace weft::search {

// The contracted job: the workers of one unit in one cell are a piece.
struct Pieces {
  // `cell_of`, `unit_of`: by worker.
  Pieces(std::span<const std::uint32_t> cell_of, std::span<const std::uint32_t> unit_of);

  std::uint32_t count() const { return static_cast<std::uint32_t>(size.size()); }
  // The cell of each worker.
  std::vector<std::uint32_t> CellOfWorkers() const;

  std::vector<std::uint32_t> of;          // the piece of each worker
  std::vector<std::uint32_t> size, cell;  // by piece
};

// The attraction between pieces: their traffic. In addition, pieces of a set that a group
// prefers in one domain, and that is in one now, attract each other by a fixed share of all
// traffic. Bytes are
// scaled down so that sums of bytes x weight fit in 63 bits; results are priced exactly
// afterwards.
class Pulls {
 public:
  struct Peer {
    std::uint32_t piece = 0;
    std::int64_t bytes = 0;
  };
  Pulls(const objective::Instance& instance, const Pieces& pieces, const Cells& cells);

  std::uint32_t pieces() const { return static_cast<std::uint32_t>(begin_.size()) - 1; }
  std::span<const Peer> of(std::uint32_t piece) const {
    return std::span(peers_).subspan(begin_[piece], begin_[piece + 1] - begin_[piece]);
  }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<Peer> peers_;
};

}  // namespace weft::search
