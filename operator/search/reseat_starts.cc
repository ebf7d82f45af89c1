#include "operator/search/reseat_starts.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::search {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using objective::kUnplaced;
using objective::Preferences;

namespace {

// Whole domains that one start each puts all open workers into, for each tier.
constexpr std::size_t kMostWholeDomains = 3;
// For fewer open workers the exact search needs no such start.
constexpr std::uint32_t kFewOpen = 4;

// Starts for the first search: greedy, and all workers in one domain in their order; each with a
// local search.
class ReseatStarts {
 public:
  ReseatStarts(OpenBoard& board, const fabric::Fabric& fabric, LooksLeft& looks)
      : board_(board), fabric_(fabric), looks_(looks) {}

  std::optional<Filled> Run(const OpenOrder& order) {
    const NodeRun all{NodeIndex{0}, NodeIndex(fabric_.node_count())};
    Lay(order, all, true);
    if (board_.open() < kFewOpen) return best_;
    OpenOrder by_index = order;
    std::sort(by_index.begin(), by_index.end());
    for (Tier t = fabric_.node_tier() - 1; t > fabric::kOutside; --t) {
      for (const DomainIndex d : Tightest(t)) {
        const auto& begin = fabric_.domains(t).begin;
        Lay(by_index, {begin[d], begin[d + 1]}, false);
        Lay(order, {begin[d], begin[d + 1]}, true);
      }
    }
    return best_;
  }

 private:
  // The domains that have room for all open workers, the one with the least room first.
  std::vector<DomainIndex> Tightest(Tier tier) const {
    std::vector<DomainIndex> domains;
    for (DomainIndex d{0}; d < fabric_.domains(tier).EndIndex(); ++d) {
      if (board_.room(tier, d) >= board_.open()) domains.push_back(d);
    }
    const std::size_t kept = std::min(domains.size(), kMostWholeDomains);
    std::partial_sort(domains.begin(), domains.begin() + static_cast<std::ptrdiff_t>(kept),
                      domains.end(), [&](DomainIndex a, DomainIndex b) {
                        return std::pair(board_.room(tier, a), a) <
                               std::pair(board_.room(tier, b), b);
                      });
    domains.resize(kept);
    return domains;
  }

  // Puts the workers on nodes of the run one after the other: on the best node by preferences and
  // cost, or on the first. Then descends.
  void Lay(const OpenOrder& order, const NodeRun& run, bool cheapest) {
    bool laid = !looks_.spent();
    for (std::size_t i = 0; laid && i < order.size(); ++i) {
      const std::optional<OpenSeat> seat = Choose(order[i], run, cheapest);
      laid = seat.has_value();
      if (laid) board_.Put(order[i], *seat);
    }
    if (laid) {
      Descend();
      Filled standing = Read(board_);
      if (!best_ || Cheaper(standing, *best_)) best_ = std::move(standing);
    }
    Clear(board_);
  }

  std::optional<OpenSeat> Choose(OpenIndex open, const NodeRun& run, bool cheapest) {
    std::optional<OpenSeat> best;
    std::pair<Preferences, Int128> least;
    const auto [first, last] = board_.PlacesIn(run);
    for (PlaceIndex p = first; p < last; ++p) {
      seats_.clear();
      board_.AddSeats(open, p, seats_);
      looks_.Spend(seats_.size());
      for (const OpenSeat& seat : seats_) {
        if (!board_.MayPut(open, seat)) continue;
        if (!cheapest) return seat;
        const std::pair value(With(open, seat), board_.Attach(open, seat));
        if (best && value >= least) continue;
        best = seat;
        least = value;
      }
    }
    return best;
  }

  Preferences With(OpenIndex open, const OpenSeat& seat) {
    if (!board_.sets().prefers()) return {};
    board_.Put(open, seat);
    const Preferences preferences = board_.preferences();
    board_.Take(open);
    return preferences;
  }

  // Moves a worker to its best node, or swaps two, while that makes the placement better.
  void Descend() {
    for (bool better = true; better && !looks_.spent();) {
      better = false;
      for (OpenIndex a{0}; a < board_.EndIndex() && !looks_.spent(); ++a) {
        const std::pair before(board_.preferences(), board_.cost());
        const OpenSeat at = board_.seats()[a];
        board_.Take(a);
        const std::optional<OpenSeat> to = Choose(a, board_.sets().allowed(a), true);
        board_.Put(a, to ? *to : at);
        if (std::pair(board_.preferences(), board_.cost()) < before) better = true;
        for (OpenIndex b = a + 1; b < board_.EndIndex(); ++b) better = Swap(a, b) || better;
      }
    }
  }

  bool Swap(OpenIndex a, OpenIndex b) {
    const OpenSeat at_a = board_.seats()[a], at_b = board_.seats()[b];
    if (at_a.node == at_b.node || !board_.Allows(a, at_b.place) || !board_.Allows(b, at_a.place)) {
      return false;
    }
    looks_.Spend(0);
    const std::pair before(board_.preferences(), board_.cost());
    board_.Take(a);
    board_.Take(b);
    bool stands = board_.MayPut(a, at_b);
    if (stands) {
      board_.Put(a, at_b);
      stands = board_.MayPut(b, at_a);
      if (stands) board_.Put(b, at_a);
    }
    if (stands && std::pair(board_.preferences(), board_.cost()) < before) return true;
    if (board_.nodes()[b] != kUnplaced) board_.Take(b);
    if (board_.nodes()[a] != kUnplaced) board_.Take(a);
    board_.Put(a, at_a);
    board_.Put(b, at_b);
    return false;
  }

  OpenBoard& board_;
  const fabric::Fabric& fabric_;
  LooksLeft& looks_;
  std::optional<Filled> best_;
  std::vector<OpenSeat> seats_;
};

}  // namespace

std::optional<Filled> FindStart(OpenBoard& board, const fabric::Fabric& fabric,
                                const OpenOrder& order, LooksLeft& looks) {
  return ReseatStarts(board, fabric, looks).Run(order);
}

}  // namespace weft::search
