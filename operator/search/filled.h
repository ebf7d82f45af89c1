#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "operator/base/units.h"
#include "operator/objective/levels.h"
#include "operator/search/open_board.h"

namespace weft::search {

// What the searches of Reseat (reseat.h) share.

// An order in which open workers get their nodes.
using OpenOrder = std::vector<OpenIndex>;

// More than any cost.
inline constexpr Int128 kNoCost = Int128{1} << 120;

// A placement of all open workers, with its values.
struct Filled {
  ByOpen<OpenSeat> seats;
  objective::Preferences preferences{};
  Int128 cost = 0;
};

bool Cheaper(const Filled& a, const Filled& b);

// The budget of a search: nodes looked at for one worker.
class LooksLeft {
 public:
  explicit LooksLeft(std::uint64_t left) : left_(left) {}
  void Spend(std::size_t looks) { left_ -= std::min<std::uint64_t>(left_, looks + 1); }
  bool spent() const { return left_ == 0; }

 private:
  std::uint64_t left_;
};

Filled Read(const OpenBoard& board);  // every open worker has a node
void Clear(OpenBoard& board);
void Show(OpenBoard& board, const Filled& filled);

// For each place in an order of the workers: a lower bound of the cost of the workers from there
// on, with each other and with all earlier ones.
std::vector<Int128> RestOf(const OpenBoard& board, const OpenOrder& order);

// Workers of one set follow each other, those with the least choice first; then the one with most
// bytes to the earlier ones.
OpenOrder NarrowFirst(const OpenBoard& board);

}  // namespace weft::search
