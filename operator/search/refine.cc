#include "operator/search/refine.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "operator/base/check.h"
#include "operator/base/random.h"
#include "operator/objective/hard_rules.h"
#include "operator/objective/units.h"
#include "operator/search/cells.h"
#include "operator/search/exchange.h"
#include "operator/search/pieces.h"

namespace weft::search {

using fabric::Tier;
using objective::Candidate;
using objective::Instance;
using objective::SearchLimits;
using objective::Shape;

namespace {

constexpr std::size_t kMostUnits = 4;  // kinds of units that move, beside the content of a cell
// Every run has its own seed, a number below kSeeds added to kSeeds times the limits' seed. The
// first runs of all starts take the lowest numbers, then follow the runs from the best results (at
// most kRunsOfLast), then the other runs of all starts.
constexpr std::uint64_t kSeeds = 64;
constexpr std::uint32_t kRunsOfLast = 4;
constexpr std::uint32_t kHistories = 50;  // times that the history of costs turns over in a run
constexpr int kGapBits = 20;
// By how much the cost may at first exceed that of the start: by a sixteenth of the gap to the
// bound, but by no more than 1 / 128 of the cost. Without a gap nothing better can be found.
constexpr int kSlackShift = 4, kMostSlackShift = 7;
constexpr int kGainShift = 10;  // a start that lowers the cost by a thousandth gains
// Starts in vain are continued only if more than a hundredth of the cost could be gained.
constexpr int kLongShift = 7;
constexpr std::uint32_t kAnywherePercent = 10;  // proposals that ignore who talks to whom
// Jobs with more workers are not searched on a torus: pairs of cells would take gigabytes. No torus
// that is built has as many nodes.
constexpr std::uint32_t kMostOnTorus = 4'096;
// On a torus every worker is a piece, so a start takes many times as long. The search therefore
// takes only the fewest starts divided by kStartsOnTorus, and as many of their results, for
// kRoundsOnTorus rounds. Another start of a large job gains less than a percent; of one of 17 to
// 128 workers the second and third gain 1 % in the mean, 6 % in the worst of 32.
constexpr std::uint32_t kStartsOnTorus = 4, kRoundsOnTorus = 12;
constexpr std::uint32_t kSmallOnTorus = 128, kStartsOfSmall = 3;

// Late acceptance: a piece moves, or two swap places, where the cost is no more than it was some
// steps ago.
class Search {
 public:
  Search(const Cells& cells, const Pulls& pulls, Pieces& pieces, std::uint64_t seed)
      : cells_(cells),
        pulls_(pulls),
        pieces_(pieces),
        size_(pieces.size),
        cell_(pieces.cell),
        slot_(pieces.EndIndex()),
        in_cell_(cells.EndIndex()),
        free_(cells.EndIndex()),
        random_(seed) {
    WEFT_CHECK(pulls.EndIndex() == pieces.EndIndex());
    for (CellIndex c{0}; c < cells.EndIndex(); ++c) free_[c] = cells.slots(c);
    for (PieceIndex p{0}; p < pieces.EndIndex(); ++p) {
      WEFT_CHECK(free_[cell_[p]] >= size_[p]);  // the start has no more workers than slots
      free_[cell_[p]] -= size_[p];
      slot_[p] = static_cast<std::uint32_t>(in_cell_[cell_[p]].size());
      in_cell_[cell_[p]].push_back(p);
    }
  }

  // Moves the pieces to the cheapest cells that the search finds. `gap`: how far the cost is above
  // the bound, as a share of the cost in units of 2^-kGapBits; the late acceptance starts with a
  // part of it added to the cost.
  void Run(const SearchLimits& limits, std::uint32_t rounds, std::int64_t gap) {
    const std::uint32_t steps = limits.StepsFor(pieces_.count()) * rounds;
    const std::uint32_t patience = limits.PatienceFor(pieces_.count());
    const std::int64_t cost = Cost();
    const auto of_gap = static_cast<std::int64_t>(Int128{cost} * gap >> kGapBits >> kSlackShift);
    std::vector<std::int64_t> history(std::max(1U, steps / kHistories),
                                      std::min(of_gap, cost >> kMostSlackShift));
    std::int64_t least = 0;
    std::size_t at = 0;
    for (std::uint32_t step = 0, last = 0; step < steps && step - last < patience; ++step) {
      if (++at == history.size()) at = 0;
      const Move move = Propose();
      if (move.piece == kNone) continue;
      std::int64_t& before = history[at];
      const std::int64_t now = cost_ + move.change;
      if (now <= cost_ || now <= before) {
        Apply(move);
        cost_ = now;
      }
      before = std::min(before, cost_);
      if (cost_ < least) {
        least = cost_;
        pieces_.cell = cell_;
        last = step;
      }
    }
    WEFT_DCHECK(cost + cost_ == Cost());  // changes that are off would have misled every step
  }

 private:
  static constexpr PieceIndex kNone{~0U};
  struct Move {
    PieceIndex piece = kNone, partner = kNone;
    CellIndex to{0};
    std::int64_t change = 0;
  };

  // Below `count`, without a division.
  std::uint32_t Draw(std::uint32_t count) {
    return static_cast<std::uint32_t>((random_.Next() >> 32) * count >> 32);
  }

  std::int64_t Cost() const {
    std::int64_t twice = 0;
    for (PieceIndex p{0}; p < pieces_.EndIndex(); ++p) {
      for (const Pulls::Peer& peer : pulls_.of(p)) {
        twice += peer.bytes * cells_.Weight(cell_[p], cell_[peer.piece]);
      }
    }
    return twice / 2;
  }
  Move Propose();
  std::int64_t Change(PieceIndex piece, CellIndex from, CellIndex to, PieceIndex except) const;
  void Apply(const Move& move);
  void Put(PieceIndex piece, CellIndex to);

  const Cells& cells_;
  const Pulls& pulls_;
  Pieces& pieces_;
  IndexSpan<PieceIndex, const std::uint32_t> size_;
  ByPiece<CellIndex> cell_;      // as it is now
  ByPiece<std::uint32_t> slot_;  // in its cell's list
  ByCell<std::vector<PieceIndex>> in_cell_;
  ByCell<std::uint32_t> free_;  // slots
  SplitMix64 random_;
  std::int64_t cost_ = 0;  // beyond that of the start
};

std::int64_t Search::Change(PieceIndex piece, CellIndex from, CellIndex to,
                            PieceIndex except) const {
  std::int64_t change = 0;
  for (const Pulls::Peer& peer : pulls_.of(piece)) {
    if (peer.piece == except) continue;
    const CellIndex at = cell_[peer.piece];
    change += peer.bytes * (cells_.Weight(to, at) - cells_.Weight(from, at));
  }
  return change;
}

// Proposes to move a random piece to the cell of one of its peers, or to a cell next to it. If the
// piece does not fit there, and sometimes if it does, it changes places with a piece of that cell.
Search::Move Search::Propose() {
  Move move;
  const PieceIndex piece(Draw(pieces_.count()));
  const auto peers = pulls_.of(piece);
  CellIndex to{0};
  if (peers.empty() || Draw(100) < kAnywherePercent) {
    to = CellIndex(Draw(cells_.size()));
  } else {
    to = cell_[peers[Draw(static_cast<std::uint32_t>(peers.size()))].piece];
    const auto near = cells_.Near(to);
    const std::uint32_t aside = Draw(8);  // cells stand in tree order
    if (!near.empty()) {                  // except on a torus
      if (to == cell_[piece] || aside > 0) to = near[Draw(static_cast<std::uint32_t>(near.size()))];
    } else if (to == cell_[piece] || aside < 3) {
      const std::uint32_t by = std::min(1 + Draw(3), cells_.size() - 1);
      to = to + (aside % 2 == 0 ? by : cells_.size() - by);
      if (to >= cells_.EndIndex()) to = to - cells_.size();
    }
  }
  const CellIndex from = cell_[piece];
  if (to == from) return move;
  const bool fits = free_[to] >= size_[piece];
  const auto& there = in_cell_[to];
  const bool swap = !there.empty() && (!fits || Draw(2) == 0);
  if (!swap) {
    if (!fits) return move;
    return {piece, kNone, to, Change(piece, from, to, kNone)};
  }
  const PieceIndex partner = there[Draw(static_cast<std::uint32_t>(there.size()))];
  if (free_[to] + size_[partner] < size_[piece] || free_[from] + size_[piece] < size_[partner]) {
    return move;
  }
  return {piece, partner, to, Change(piece, from, to, partner) + Change(partner, to, from, piece)};
}

// Moves a piece that has left its cell.
void Search::Put(PieceIndex piece, CellIndex to) {
  auto& old_list = in_cell_[cell_[piece]];
  old_list[slot_[piece]] = old_list.back();
  slot_[old_list.back()] = slot_[piece];
  old_list.pop_back();
  cell_[piece] = to;
  slot_[piece] = static_cast<std::uint32_t>(in_cell_[to].size());
  in_cell_[to].push_back(piece);
  WEFT_DCHECK(free_[to] >= size_[piece]);  // else it wraps, and the cell takes any number
  free_[to] -= size_[piece];
}

// Both pieces leave before one arrives: a cell has room for one only after the other left.
void Search::Apply(const Move& move) {
  const CellIndex from = cell_[move.piece];
  free_[from] += size_[move.piece];
  if (move.partner != kNone) {
    WEFT_DCHECK(cell_[move.partner] == move.to);
    free_[move.to] += size_[move.partner];
    Put(move.partner, from);
  }
  Put(move.piece, move.to);
}

using UnitOf = ByWorker<objective::UnitIndex>;

// The units whose workers move together, the largest first: groups that prefer a level, natural
// tiles, single workers. Of more than kMostUnits the last, smallest ones are kept: what moves in
// larger pieces moves well enough as the whole content of a cell.
std::vector<UnitOf> UnitsToMove(const Instance& instance) {
  std::vector<UnitOf> out;
  const auto add = [&](UnitOf units) {
    if (std::find(out.begin(), out.end(), units) == out.end()) out.push_back(std::move(units));
  };
  for (Tier t{1}; t <= instance.node_tier(); ++t) {
    const auto atoms = instance.soft_atoms(t);
    if (!atoms.empty()) add({atoms.begin(), atoms.end()});
  }
  const auto sizes = instance.grid().sizes();
  std::vector<Shape> tiles = instance.grid().NaturalTiles();
  std::stable_sort(tiles.begin(), tiles.end(), [](const Shape& a, const Shape& b) {
    return objective::Volume(a) > objective::Volume(b);
  });
  for (const Shape& tile : tiles) add(objective::MakeUnits(sizes, tile, instance.workers()).of);
  add(objective::MakeUnits(sizes, Shape(sizes.size(), 1), instance.workers()).of);
  const auto kept = static_cast<std::ptrdiff_t>(std::min(out.size(), kMostUnits));
  return {out.end() - kept, out.end()};
}

// The first `most` candidates with different costs and the best preferences. Candidates of equal
// cost are mostly the same layout, so one of them is enough.
std::vector<Candidate> Starts(std::span<const Candidate> candidates, std::size_t most) {
  std::vector<Candidate> starts;
  for (const Candidate& candidate : candidates) {
    if (starts.size() == most) break;
    if (!starts.empty() && (candidate.cost == starts.back().cost ||
                            candidate.preferences != starts.front().preferences)) {
      continue;
    }
    starts.push_back(candidate);
  }
  return starts;
}

// One placement, and where its workers stand by now.
class Refiner {
 public:
  // `start` and `limits` outlive it.
  Refiner(const Instance& instance, const Candidate& start, const SearchLimits& limits,
          Int128 enough)
      : instance_(instance),
        start_(start),
        limits_(limits),
        cells_(instance, start.nodes, objective::HomeTier(instance.request(), start.preferences),
               limits.refine_cells),
        cell_of_(cells_.of_worker().begin(), cells_.of_worker().end()) {
    const Int128 part = start.cost >> kGapBits;
    if (start.cost > enough && part > 0) {
      gap_ = static_cast<std::int64_t>((start.cost - enough) / part);
    }
  }

  // Moves pieces of these units, beginning where the last call ended, for so many rounds of the
  // limits' steps; then lets pairs of cells exchange pieces. `seed` is added to the limits' own.
  void Run(IndexSpan<WorkerIndex, const objective::UnitIndex> unit_of, std::uint32_t rounds,
           std::uint64_t seed) {
    Pieces pieces(cell_of_, unit_of);
    const Pulls pulls(instance_, pieces, cells_);
    Search(cells_, pulls, pieces, limits_.seed * kSeeds + seed).Run(limits_, rounds, gap_);
    Exchange(pulls, cells_).Run(pieces, limits_.exchange_steps);
    cell_of_ = pieces.CellOfWorkers();
  }

  // The present cell of each worker. Given to Run as units, they make one piece of each cell.
  UnitOf cells() const {
    UnitOf units;
    units.reserve(cell_of_.size());
    for (const CellIndex cell : cell_of_) units.emplace_back(cell.Raw());
    return units;
  }

  // The present placement, evaluated; nothing if it is not better than the start.
  std::optional<Candidate> Better() const {
    ByWorker<fabric::NodeIndex> nodes = cells_.NodesFor(cell_of_);
    if (nodes == start_.nodes || !objective::MeetsTopology(instance_, nodes)) return std::nullopt;
    Candidate candidate = objective::Evaluate(instance_, std::move(nodes));
    if (candidate.objective() >= start_.objective()) return std::nullopt;
    return candidate;
  }

 private:
  const Instance& instance_;
  const Candidate& start_;
  const SearchLimits& limits_;
  Cells cells_;
  ByWorker<CellIndex> cell_of_;
  std::int64_t gap_ = 0;  // of the start to `enough`, in 2^-kGapBits of its cost
};

SearchLimits OnTorus(SearchLimits limits) {
  limits.refine_steps = limits.refine_steps_on_torus;
  limits.refine_steps_per_piece = limits.refine_steps_per_piece_on_torus;
  limits.refine_patience = limits.refine_patience_on_torus;
  return limits;
}

}  // namespace

void RefineBest(const Instance& instance, const SearchLimits& all_limits, Int128 enough,
                std::vector<Candidate>& candidates) {
  if (instance.workers() < 2 || all_limits.refine_steps == 0) return;
  const bool on_torus = instance.pair_cost().torus() != nullptr;
  const bool planes = !instance.pair_cost().planes().empty();
  const SearchLimits limits =
      on_torus ? OnTorus(all_limits) : all_limits.ForSize(instance.workers(), planes);
  if (on_torus && instance.workers() > kMostOnTorus) return;
  const auto reached = [&] { return candidates.empty() || candidates.front().cost <= enough; };
  const bool more_on_torus =
      instance.workers() > limits.small_workers && instance.workers() <= kSmallOnTorus;
  const std::uint32_t few =
      std::max(more_on_torus ? kStartsOfSmall : 1U, limits.fewest_starts / kStartsOnTorus);
  const std::vector<UnitOf> units = UnitsToMove(instance);
  const std::vector<Candidate> starts =
      Starts(candidates, on_torus ? few : limits.StartsFor(instance.workers()));
  const auto refine = [&](const Candidate& start, std::uint32_t rounds, std::uint64_t seed) {
    Refiner refiner(instance, start, limits, enough);
    refiner.Run(refiner.cells(), rounds, seed + kMostUnits);
    for (std::size_t u = 0; u < units.size(); ++u) refiner.Run(units[u], rounds, seed + u);
    if (auto found = refiner.Better()) objective::InsertInOrder(*std::move(found), candidates);
  };
  const std::uint32_t seeds = on_torus ? 1 : limits.SeedsFor(instance.workers());
  std::uint32_t in_vain = 0;  // starts since the last that gained
  bool gained = on_torus || planes || limits.last_in_vain;
  for (std::size_t i = 0; i < starts.size() && !reached(); ++i) {
    const bool far = objective::IsFar(candidates.front().cost, enough);
    if (in_vain >= limits.VainStartsFor(instance.workers(), planes, far)) break;
    const Int128 before = candidates.front().cost;
    for (std::uint32_t s = 0; s < seeds && !reached(); ++s) {
      refine(starts[i], 1, s == 0 ? 0 : (kRunsOfLast + s) * std::uint64_t{2} * kMostUnits);
    }
    ++in_vain;
    gained = gained || candidates.front().cost < before;
    if (candidates.front().cost < before - (before >> kGainShift)) in_vain = 0;
  }
  const bool room =
      !reached() && candidates.front().cost - enough > candidates.front().cost >> kLongShift;
  if (!gained && !room) return;
  const std::uint32_t rounds =
      on_torus ? std::min(limits.refine_rounds, kRoundsOnTorus) : limits.refine_rounds;
  const std::vector<Candidate> last =
      Starts(candidates, on_torus ? few : limits.LastFor(instance.workers(), planes));
  for (std::size_t i = 0; i < last.size() && !reached(); ++i) {
    refine(last[i], rounds, (1 + i) * 2 * kMostUnits);
  }
}

}  // namespace weft::search
