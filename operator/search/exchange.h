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
    std::uint32_t a = 0, b = 0;
    friend auto operator<=>(const Pair&, const Pair&) = default;
  };
  struct Done {
    std::uint32_t piece, from, to;
  };

  std::vector<Pair> ConnectedPairs();
  bool Divide(Pair pair);
  void Open(std::uint32_t from, std::uint32_t to);
  std::uint32_t Best(std::span<const std::uint32_t> open, std::int64_t least,
                     std::int64_t most) const;
  bool Step(Pair pair);
  void Move(Pair pair, std::uint32_t piece);
  void TakeBack(Pair pair);
  void Follow(Pair pair, std::uint32_t piece);
  std::int64_t Gain(std::uint32_t piece, std::uint32_t to) const;
  void MoveTo(std::uint32_t piece, std::uint32_t to);

  const Pulls& pulls_;
  const Cells& cells_;
  std::vector<std::uint32_t> cell_of_, size_;        // by piece
  std::vector<std::vector<std::uint32_t>> in_cell_;  // pieces of each cell
  std::vector<std::int64_t> free_;    // free slots by cell; below 0 only within a swap
  std::vector<std::int64_t> gain_;    // by piece of the pair: cost that its move saves
  std::vector<std::uint8_t> open_;    // pieces of the pair that have not moved yet
  std::vector<std::uint8_t> linked_;  // cell x cell, whether they exchange bytes; scratch
  // The chain of the current pair.
  std::vector<std::uint32_t> in_a_, in_b_;  // open pieces
  std::vector<Done> done_;
  std::int64_t change_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace weft::search
