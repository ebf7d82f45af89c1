#include "operator/search/reseat.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/search/reseat_starts.h"
#include "operator/search/reseat_ties.h"

namespace weft::search {

using objective::Preferences;

namespace {

// The first search: least preferences, then least cost.
class CheapestReseat {
 public:
  CheapestReseat(OpenBoard& board, OpenOrder order, LooksLeft& looks, std::optional<Filled> known)
      : board_(board),
        order_(std::move(order)),
        rest_(RestOf(board, order_)),
        looks_(looks),
        best_(std::move(known)),
        choices_(order_.size()) {
    for (const OpenIndex open : order_) by_price_.push_back(ByPrice(open));
  }

  // Returns false if the looks ran out.
  bool Run() { return Visit(0); }
  const std::optional<Filled>& best() const { return best_; }

 private:
  struct Choice {
    Int128 attach = 0;
    OpenSeat seat;
  };

  std::vector<PlaceIndex> ByPrice(OpenIndex open) const {
    std::vector<PlaceIndex> places;
    for (PlaceIndex p{0}; p < board_.EndPlace(); ++p) {
      if (board_.Allows(open, p)) places.push_back(p);
    }
    std::stable_sort(places.begin(), places.end(), [&](PlaceIndex a, PlaceIndex b) {
      return board_.Price(open, a) < board_.Price(open, b);
    });
    return places;
  }

  bool CanWin(const Preferences& preferences, Int128 cost) const {
    if (!best_) return cost < kNoCost;
    if (preferences != best_->preferences) return preferences < best_->preferences;
    return cost < best_->cost;
  }

  // Its choices whose cost could still win, cheapest first.
  void Choose(std::size_t depth, const Preferences& preferences) {
    const OpenIndex open = order_[depth];
    std::vector<Choice>& choices = choices_[depth];
    choices.clear();
    std::vector<OpenSeat> seats;
    for (const PlaceIndex place : by_price_[depth]) {
      const Int128 least = board_.cost() + board_.Price(open, place) + rest_[depth + 1];
      if (!CanWin(preferences, least)) break;
      seats.clear();
      board_.AddSeats(open, place, seats);
      looks_.Spend(seats.size());
      for (const OpenSeat& seat : seats) {
        if (board_.MayPut(open, seat)) choices.push_back({board_.Attach(open, seat), seat});
      }
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice& a, const Choice& b) { return a.attach < b.attach; });
  }

  bool Visit(std::size_t depth) {
    const Preferences preferences = board_.preferences();
    if (!CanWin(preferences, board_.cost() + rest_[depth])) return true;
    if (depth == order_.size()) {
      best_ = Read(board_);
      return true;
    }
    Choose(depth, preferences);
    for (std::size_t c = 0; c < choices_[depth].size(); ++c) {
      const Choice choice = choices_[depth][c];
      if (!CanWin(preferences, board_.cost() + choice.attach + rest_[depth + 1])) break;
      if (looks_.spent()) return false;
      looks_.Spend(0);
      board_.Put(order_[depth], choice.seat);
      const bool finished = Visit(depth + 1);
      board_.Take(order_[depth]);
      if (!finished) return false;
    }
    return true;
  }

  OpenBoard& board_;
  OpenOrder order_;
  std::vector<Int128> rest_;
  LooksLeft& looks_;
  std::optional<Filled> best_;
  std::vector<std::vector<PlaceIndex>> by_price_;  // by depth
  std::vector<std::vector<Choice>> choices_;       // by depth
};

// Whether the rules that fixed workers share leave a node for every open worker. Of two allowed
// runs one holds the other or they are apart, so it is enough that none has more workers inside
// than room (Hall's theorem). Rules between open workers may leave fewer.
bool HasRoom(const OpenSets& sets, const fabric::ByNode<std::uint32_t>& free) {
  fabric::ByNode<std::uint64_t> before(1, 0U);  // free slots of the nodes before this one
  for (const std::uint32_t slots : free) before.push_back(before.back() + slots);
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // the run's begin, its end from the right
  std::vector<Key> runs;
  for (OpenIndex i{0}; i < OpenIndex::Of(sets.workers().size()); ++i) {
    runs.emplace_back(sets.allowed(i).begin.Raw(), ~sets.allowed(i).end.Raw());
  }
  std::sort(runs.begin(), runs.end());
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (r > 0 && runs[r] == runs[r - 1]) continue;
    const fabric::NodeIndex begin(runs[r].first), end(~runs[r].second);
    const auto inside = std::lower_bound(runs.begin(), runs.end(), Key(end.Raw(), 0)) -
                        runs.begin() - static_cast<std::ptrdiff_t>(r);
    if (before[end] - before[begin] < static_cast<std::uint64_t>(inside)) return false;
  }
  return true;
}

}  // namespace

std::optional<Reseated> Reseat(const objective::Instance& instance, objective::Nodes nodes,
                               const fabric::ByNode<std::uint32_t>& free, int tolerance_percent,
                               const ReseatLimits& limits) {
  if (std::count(nodes.begin(), nodes.end(), objective::kUnplaced) > kMostReseated) return {};
  if (const OpenSets sets(instance, nodes); !sets.feasible() || !HasRoom(sets, free)) return {};
  OpenBoard board(instance, nodes, free);
  const OpenOrder order = NarrowFirst(board);
  LooksLeft start_looks(std::clamp(board.open() * limits.start_looks_per_worker,
                                   limits.fewest_start_looks, limits.most_start_looks));
  std::optional<Filled> best = FindStart(board, instance.fabric(), order, start_looks);
  LooksLeft looks(limits.looks);
  CheapestReseat least(board, order, looks, std::move(best));
  const bool finished = least.Run();
  Clear(board);
  if (!least.best()) return std::nullopt;

  const Int128 limit = objective::CostLimit(least.best()->cost, tolerance_percent);
  LooksLeft tie_looks(limits.tie_looks);
  TidiestReseat ties(instance, board, limit, tie_looks);
  ties.Know(*least.best());
  ties.Descend();
  LooksLeft rest_looks(limits.tie_looks);
  TidiestReseat all(instance, board, limit, rest_looks);
  all.Know(ties.best());
  const bool tied = all.Run();
  Clear(board);
  Show(board, all.best());
  Reseated result{objective::Evaluate(instance, board.Whole()), finished && tied};
  WEFT_CHECK(result.best.preferences == all.best().preferences);  // the sets agree
  return result;
}

}  // namespace weft::search
