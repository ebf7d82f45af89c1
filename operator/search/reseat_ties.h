#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "operator/search/filled.h"

namespace weft::search {

// The second search of Reseat: among placements with the least preferences and a cost within the
// limit, the best by the levels after the cost, then by names. Workers go in index order and nodes
// in name order, so that the first of equal placements is the least.
class TidiestReseat {
 public:
  TidiestReseat(const objective::Instance& instance, OpenBoard& board, Int128 limit,
                LooksLeft& looks)
      : instance_(instance),
        board_(board),
        order_(board.open()),
        limit_(limit),
        looks_(looks),
        slow_look_(board.slow_ties() ? instance.workers() : 1) {
    std::iota(order_.begin(), order_.end(), OpenIndex{0});
    rest_ = RestOf(board, order_);
  }

  void Know(const Filled& standing) {
    Show(board_, standing);
    best_ = standing;
    board_.ReadTies(ties_);
    Clear(board_);
  }
  // Returns false if the looks ran out.
  bool Run() { return Visit(0); }
  // Moves and swaps single workers while that makes it better.
  void Descend();
  const Filled& best() const { return best_; }

 private:
  bool Fits() const { return board_.cost() <= limit_ && board_.preferences() <= best_.preferences; }
  bool CanWin(bool whole);
  bool Visit(std::size_t depth);
  bool Adopt();
  bool MoveOne(OpenIndex open);
  bool Swap(OpenIndex a, OpenIndex b);
  std::vector<OpenSeat> SeatsByName(OpenIndex open, Int128 most);

  const objective::Instance& instance_;
  OpenBoard& board_;
  OpenOrder order_;
  std::vector<Int128> rest_;
  Int128 limit_;
  LooksLeft& looks_;
  std::size_t slow_look_;
  Filled best_;
  std::vector<std::uint32_t> ties_, now_;
};

}  // namespace weft::search
