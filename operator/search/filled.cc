#include "operator/search/filled.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace weft::search {

using objective::kUnplaced;

bool Cheaper(const Filled& a, const Filled& b) {
  return std::pair(a.preferences, a.cost) < std::pair(b.preferences, b.cost);
}

std::vector<Int128> RestOf(const OpenBoard& board, const OpenOrder& order) {
  std::vector<Int128> rest(order.size() + 1, 0);
  ByOpen<std::uint32_t> rank(board.EndIndex());
  for (std::uint32_t d = 0; d < order.size(); ++d) rank[order[d]] = d;
  for (std::size_t d = order.size(); d-- > 0;) {
    Int128 least = kNoCost;
    for (PlaceIndex p{0}; p < board.EndPlace(); ++p) {
      if (board.Allows(order[d], p)) least = std::min(least, board.Price(order[d], p));
    }
    Int128 bytes = 0;
    for (const OpenBoard::Partner& partner : board.partners(order[d])) {
      if (rank[partner.open] < d) bytes += partner.bytes;
    }
    rest[d] = std::min(kNoCost, rest[d + 1] + least + bytes * board.least_weight());
  }
  return rest;
}

OpenOrder NarrowFirst(const OpenBoard& board) {
  ByOpen<std::uint64_t> choice(board.EndIndex(), 0U);
  for (OpenIndex i{0}; i < board.EndIndex(); ++i) {
    const NodeRun& run = board.sets().allowed(i);
    choice[i] = run.end - run.begin;
  }
  ByOpen<Int128> to_earlier(board.EndIndex(), 0);
  ByOpen<std::uint32_t> started(board.EndIndex(), 0U);  // sets that an earlier worker is in
  ByOpen<std::uint8_t> done(board.EndIndex(), 0);
  OpenOrder order;
  while (order.size() < board.open()) {
    std::optional<OpenIndex> next;
    for (OpenIndex i{0}; i < board.EndIndex(); ++i) {
      if (done[i] != 0) continue;
      if (!next || started[i] > started[*next] ||
          (started[i] == started[*next] &&
           (choice[i] < choice[*next] ||
            (choice[i] == choice[*next] && to_earlier[i] > to_earlier[*next])))) {
        next = i;
      }
    }
    done[*next] = 1;
    order.push_back(*next);
    for (const OpenBoard::Partner& partner : board.partners(*next)) {
      to_earlier[partner.open] += partner.bytes;
    }
    for (const std::uint32_t j : board.sets().joints_of(*next)) {
      for (const OpenIndex member : board.sets().joints()[j].members) ++started[member];
    }
  }
  return order;
}

Filled Read(const OpenBoard& board) { return {board.seats(), board.preferences(), board.cost()}; }

void Clear(OpenBoard& board) {
  for (OpenIndex i{0}; i < board.EndIndex(); ++i) {
    if (board.nodes()[i] != kUnplaced) board.Take(i);
  }
}

void Show(OpenBoard& board, const Filled& standing) {
  Clear(board);
  for (OpenIndex i{0}; i < board.EndIndex(); ++i) board.Put(i, standing.seats[i]);
}

}  // namespace weft::search
