#include "operator/search/reseat_ties.h"

#include <algorithm>

#include "operator/base/check.h"

namespace weft::search {

using fabric::NodeIndex;
using objective::kUnplaced;

namespace {

// Compares names worker by worker, up to the first without a node.
int CompareNames(const fabric::Fabric& fabric, const ByOpen<NodeIndex>& nodes,
                 const ByOpen<OpenSeat>& other) {
  for (const OpenIndex i : nodes.Indices()) {
    if (nodes[i] == kUnplaced) return 0;
    const std::uint32_t a = fabric.name_rank(nodes[i]), b = fabric.name_rank(other[i].node);
    if (a != b) return a < b ? -1 : 1;
  }
  return 0;
}

}  // namespace

// Whether what stands on the board may become better than the best; if `whole`, whether it is.
bool TidiestReseat::CanWin(bool whole) {
  board_.ReadTies(now_);
  if (whole) looks_.Spend(slow_look_);
  if (now_ != ties_) return now_ < ties_;
  const int names = CompareNames(instance_.fabric(), board_.nodes(), best_.seats);
  return names < 0 || (names == 0 && !whole);
}

// The nodes for a worker at a cost of at most `most`.
std::vector<OpenSeat> TidiestReseat::SeatsByName(OpenIndex open, Int128 most) {
  std::vector<OpenSeat> seats, affordable;
  for (PlaceIndex p{0}; p < board_.EndPlace(); ++p) {
    if (board_.Price(open, p) <= most) board_.AddSeats(open, p, seats);
  }
  looks_.Spend(seats.size());
  for (const OpenSeat& seat : seats) {
    if (board_.MayPut(open, seat) && board_.Attach(open, seat) <= most) affordable.push_back(seat);
  }
  const fabric::Fabric& fabric = instance_.fabric();
  std::sort(affordable.begin(), affordable.end(), [&](const OpenSeat& a, const OpenSeat& b) {
    return fabric.name_rank(a.node) < fabric.name_rank(b.node);
  });
  return affordable;
}

bool TidiestReseat::Visit(std::size_t depth) {
  if (depth == order_.size()) {
    if (Fits() && CanWin(true)) {
      best_ = Read(board_);
      ties_ = now_;
    }
    return true;
  }
  const Int128 left = limit_ - board_.cost() - rest_[depth + 1];
  for (const OpenSeat& seat : SeatsByName(order_[depth], left)) {
    if (looks_.spent()) return false;
    looks_.Spend(0);
    board_.Put(order_[depth], seat);
    const bool whole = depth + 1 == order_.size();
    const bool go = Fits() && (whole || CanWin(false));
    const bool finished = !go || Visit(depth + 1);
    board_.Take(order_[depth]);
    if (!finished) return false;
  }
  return true;
}

// Keeps what stands on the board if it is better.
bool TidiestReseat::Adopt() {
  if (!Fits() || !CanWin(true)) return false;
  best_ = Read(board_);
  ties_ = now_;
  return true;
}

bool TidiestReseat::MoveOne(OpenIndex open) {
  const OpenSeat before = board_.seats()[open];
  board_.Take(open);
  bool better = false;
  OpenSeat kept = before;
  for (const OpenSeat& seat : SeatsByName(open, limit_ - board_.cost())) {
    if (looks_.spent()) break;
    board_.Put(open, seat);
    if (Adopt()) {
      better = true;
      kept = seat;
    }
    board_.Take(open);
  }
  board_.Put(open, kept);
  return better;
}

bool TidiestReseat::Swap(OpenIndex a, OpenIndex b) {
  const OpenSeat at_a = board_.seats()[a], at_b = board_.seats()[b];
  if (at_a.node == at_b.node || !board_.Allows(a, at_b.place) || !board_.Allows(b, at_a.place)) {
    return false;
  }
  const auto put = [&](const OpenSeat& for_a, const OpenSeat& for_b) {
    board_.Take(a);
    board_.Take(b);
    const bool may = board_.MayPut(a, for_a);
    if (may) board_.Put(a, for_a);
    if (may && board_.MayPut(b, for_b)) {
      board_.Put(b, for_b);
      return true;
    }
    if (may) board_.Take(a);
    return false;
  };
  const bool stands = put(at_b, at_a);
  if (stands && Adopt()) return true;
  if (!stands) {
    board_.Put(a, at_a);
    board_.Put(b, at_b);
  } else {
    put(at_a, at_b);
  }
  return false;
}

void TidiestReseat::Descend() {
  Show(board_, best_);
  bool better = true;
  while (better && !looks_.spent()) {
    better = false;
    for (const OpenIndex a : order_) {
      if (looks_.spent()) break;
      better = MoveOne(a) || better;
      for (OpenIndex b = a + 1; b < board_.EndIndex() && !looks_.spent(); ++b) {
        looks_.Spend(0);
        better = Swap(a, b) || better;
      }
    }
  }
  Clear(board_);
}

}  // namespace weft::search
