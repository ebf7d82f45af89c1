#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/search/cells.h"
#include "operator/search/pieces.h"

namespace weft::search {

// Redistributes the pieces of two cells, one pair of cells after the other, while the cost falls.
// It makes a chain of single moves and swaps, each the best next step even if it raises the cost,
// and keeps the cheapest prefix. So whole tiles change places, which a single swap cannot do.
//
// Cost    at most `steps` pieces are looked at.
// Source  Kernighan and Lin, "An efficient heuristic procedure for partitioning graphs", Bell
//         System Technical Journal, 1970; pairs of blocks as in Sanders and Schulz, "Engineering
//         multilevel graph partitioning algorithms", ESA 2011.
class Exchange {
 public:
  // `pulls` and `cells` must outlive this object.
  Exchange(const Pulls& pulls, const Cells& cells);

  // Changes the cells of `pieces`.
  void Run(Pieces& pieces, std::uint64_t steps);

 private:
  struct Pair {
    CellIndex a{0}, b{0};
    friend auto operator<=>(const Pair&, const Pair&) = default;
  };
  struct Done {
    PieceIndex piece;
    CellIndex from, to;
  };

  std::vector<Pair> ConnectedPairs();
  bool Divide(Pair pair);
  void Open(CellIndex from, CellIndex to);
  PieceIndex Best(std::span<const PieceIndex> open, std::int64_t least, std::int64_t most) const;
  bool Step(Pair pair);
  void Move(Pair pair, PieceIndex piece);
  void TakeBack(Pair pair);
  void Follow(Pair pair, PieceIndex piece);
  std::int64_t Gain(PieceIndex piece, CellIndex to) const;
  std::size_t Linked(Pair pair) const {
    return std::size_t{pair.a.Raw()} * cells_.size() + pair.b.Raw();
  }
  void MoveTo(PieceIndex piece, CellIndex to);

  const Pulls& pulls_;
  const Cells& cells_;
  ByPiece<CellIndex> cell_of_;
  ByPiece<std::uint32_t> size_;
  ByCell<std::vector<PieceIndex>> in_cell_;
  ByCell<std::int64_t> free_;         // slots; below 0 only within a swap
  ByPiece<std::int64_t> gain_;        // of the pair's pieces: cost that a move saves
  ByPiece<std::uint8_t> open_;        // pieces of the pair that have not moved yet
  std::vector<std::uint8_t> linked_;  // cell x cell, whether they exchange bytes; scratch
  // The chain of the current pair.
  std::vector<PieceIndex> in_a_, in_b_;  // open pieces
  std::vector<Done> done_;
  std::int64_t change_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace weft::search
