#include "operator/placement/refine.h"

#include <algorithm>

#include "operator/base/random.h"
#include "operator/placement/hard_rules.h"
#include "operator/placement/units.h"

namespace weft::placement {

using fabric::Tier;
using traffic::Edge;

namespace {

constexpr std::size_t kMostUnits = 4;     // kinds of pieces that move, the largest left out first
constexpr std::uint64_t kSeeds = 64;      // runs of one refiner have seeds of their own
constexpr std::uint32_t kHistories = 50;  // times that the history of costs turns over in a run
constexpr std::uint32_t kAnywherePercent = 10;  // proposals that ignore who talks to whom

class Search {
 public:
  Search(const Instance& instance, const Cells& cells, std::span<const std::uint32_t> cell_of,
         std::span<const std::uint32_t> unit_of, std::uint64_t seed)
      : instance_(instance), cells_(cells), random_(seed) {
    MakePieces(cell_of, unit_of);
    Connect();
    for (std::uint32_t p = 0; p < pieces(); ++p) {
      slot_.push_back(static_cast<std::uint32_t>(in_cell_[cell_[p]].size()));
      in_cell_[cell_[p]].push_back(p);
    }
  }

  // Cells by worker, the best that were seen.
  std::vector<std::uint32_t> Run(const SearchLimits& limits, std::uint32_t quarters) {
    const std::uint32_t steps =
        std::max(limits.refine_steps, limits.refine_steps_per_piece * pieces()) / 4 * quarters;
    std::vector<Int128> history(std::max(1U, steps / kHistories), 0);
    std::vector<std::uint32_t> best = cell_;
    Int128 least = 0;
    std::size_t at = 0;
    for (std::uint32_t step = 0; step < steps; ++step) {
      if (++at == history.size()) at = 0;
      const Move move = Propose();
      if (move.piece == kNone) continue;
      Int128& before = history[at];
      const Int128 cost = cost_ + move.change;
      if (cost <= cost_ || cost <= before) {
        Apply(move);
        cost_ = cost;
      }
      before = std::min(before, cost_);
      if (cost_ < least) {
        least = cost_;
        best = cell_;
      }
    }
    std::vector<std::uint32_t> of_worker;
    for (const std::uint32_t piece : piece_of_) of_worker.push_back(best[piece]);
    return of_worker;
  }

 private:
  static constexpr std::uint32_t kNone = ~0U;
  struct Move {
    std::uint32_t piece = kNone, partner = kNone;
    std::uint32_t to = 0;
    Int128 change = 0;
  };
  struct Peer {
    std::uint32_t piece = 0;
    std::int64_t bytes = 0;
  };

  // Below `count`, without a division.
  std::uint32_t Draw(std::uint32_t count) {
    return static_cast<std::uint32_t>((random_.Next() >> 32) * count >> 32);
  }
  std::uint32_t pieces() const { return static_cast<std::uint32_t>(cell_.size()); }

  void MakePieces(std::span<const std::uint32_t> cell_of, std::span<const std::uint32_t> unit_of);
  void Connect();
  Move Propose();
  Int128 Change(std::uint32_t piece, std::uint32_t from, std::uint32_t to,
                std::uint32_t except) const;
  void Apply(const Move& move);
  void Put(std::uint32_t piece, std::uint32_t to);

  const Instance& instance_;
  const Cells& cells_;
  SplitMix64 random_;
  std::vector<std::uint32_t> piece_of_;     // worker
  std::vector<std::uint32_t> size_, cell_;  // by piece
  std::vector<std::uint32_t> slot_;         // of a piece in its cell's list
  std::vector<std::uint32_t> peers_begin_;
  std::vector<Peer> peers_;
  std::vector<std::vector<std::uint32_t>> in_cell_;  // pieces
  std::vector<std::uint32_t> free_;                  // slots by cell
  Int128 cost_ = 0;                                  // beyond that of the start
};

void Search::MakePieces(std::span<const std::uint32_t> cell_of,
                        std::span<const std::uint32_t> unit_of) {
  std::vector<std::uint32_t> order(unit_of.size());
  for (std::uint32_t w = 0; w < order.size(); ++w) order[w] = w;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return unit_of[a] != unit_of[b] ? unit_of[a] < unit_of[b] : cell_of[a] < cell_of[b];
  });
  piece_of_.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t w = order[i];
    if (i == 0 || unit_of[w] != unit_of[order[i - 1]] || cell_of[w] != cell_of[order[i - 1]]) {
      size_.push_back(0);
      cell_.push_back(cell_of[w]);
    }
    ++size_.back();
    piece_of_[w] = pieces() - 1;
  }
  in_cell_.resize(cells_.size());
  free_.resize(cells_.size());
  for (std::uint32_t c = 0; c < cells_.size(); ++c) free_[c] = cells_.slots(c);
  for (std::uint32_t p = 0; p < pieces(); ++p) free_[cell_[p]] -= size_[p];
}

void Search::Connect() {
  const std::vector<Edge> edges = PullsBetween(instance_, piece_of_, pieces());
  peers_begin_.assign(pieces() + 1, 0);
  for (const Edge& edge : edges) {
    ++peers_begin_[edge.a + 1];
    ++peers_begin_[edge.b + 1];
  }
  for (std::uint32_t p = 0; p < pieces(); ++p) peers_begin_[p + 1] += peers_begin_[p];
  peers_.resize(2 * edges.size());
  std::vector<std::uint32_t> next(peers_begin_.begin(), peers_begin_.end() - 1);
  for (const Edge& edge : edges) {
    peers_[next[edge.a]++] = {edge.b, edge.bytes};
    peers_[next[edge.b]++] = {edge.a, edge.bytes};
  }
}

Int128 Search::Change(std::uint32_t piece, std::uint32_t from, std::uint32_t to,
                      std::uint32_t except) const {
  Int128 change = 0;
  for (std::uint32_t i = peers_begin_[piece]; i < peers_begin_[piece + 1]; ++i) {
    if (peers_[i].piece == except) continue;
    const std::uint32_t at = cell_[peers_[i].piece];
    change +=
        static_cast<Int128>(peers_[i].bytes) * (cells_.Weight(to, at) - cells_.Weight(from, at));
  }
  return change;
}

// A random piece to the cell of one of its peers, or next to it; in exchange
// for a piece of that cell where it does not fit, and sometimes where it does.
Search::Move Search::Propose() {
  Move move;
  const std::uint32_t piece = Draw(pieces());
  const std::uint32_t degree = peers_begin_[piece + 1] - peers_begin_[piece];
  std::uint32_t to = 0;
  if (degree == 0 || Draw(100) < kAnywherePercent) {
    to = Draw(cells_.size());
  } else {
    const Peer& peer = peers_[peers_begin_[piece] + Draw(degree)];
    to = cell_[peer.piece];
    const std::uint32_t aside = Draw(8);  // cells stand in tree order
    if (to == cell_[piece] || aside < 3) {
      const std::uint32_t by = std::min(1 + Draw(3), cells_.size() - 1);
      to += aside % 2 == 0 ? by : cells_.size() - by;
      if (to >= cells_.size()) to -= cells_.size();
    }
  }
  const std::uint32_t from = cell_[piece];
  if (to == from) return move;
  const bool fits = free_[to] >= size_[piece];
  const auto& there = in_cell_[to];
  const bool swap = !there.empty() && (!fits || Draw(2) == 0);
  if (!swap) {
    if (!fits) return move;
    return {piece, kNone, to, Change(piece, from, to, kNone)};
  }
  const std::uint32_t partner = there[Draw(static_cast<std::uint32_t>(there.size()))];
  if (free_[to] + size_[partner] < size_[piece] || free_[from] + size_[piece] < size_[partner]) {
    return move;
  }
  return {piece, partner, to, Change(piece, from, to, partner) + Change(partner, to, from, piece)};
}

void Search::Put(std::uint32_t piece, std::uint32_t to) {
  auto& old_list = in_cell_[cell_[piece]];
  old_list[slot_[piece]] = old_list.back();
  slot_[old_list.back()] = slot_[piece];
  old_list.pop_back();
  free_[cell_[piece]] += size_[piece];
  cell_[piece] = to;
  slot_[piece] = static_cast<std::uint32_t>(in_cell_[to].size());
  in_cell_[to].push_back(piece);
  free_[to] -= size_[piece];
}

void Search::Apply(const Move& move) {
  const std::uint32_t from = cell_[move.piece];
  if (move.partner != kNone) Put(move.partner, from);
  Put(move.piece, move.to);
}

using UnitOf = std::vector<std::uint32_t>;  // by worker

std::vector<UnitOf> UnitsToMove(const Instance& instance) {
  std::vector<UnitOf> out;
  const auto add = [&](UnitOf units) {
    if (std::find(out.begin(), out.end(), units) == out.end()) out.push_back(std::move(units));
  };
  for (Tier t = 1; t <= instance.node_tier(); ++t) {
    const auto atoms = instance.soft_atoms(t);
    if (!atoms.empty()) add({atoms.begin(), atoms.end()});
  }
  const auto sizes = instance.grid().sizes();
  std::vector<Shape> tiles = instance.grid().NaturalTiles();
  std::stable_sort(tiles.begin(), tiles.end(),
                   [](const Shape& a, const Shape& b) { return Volume(a) > Volume(b); });
  for (const Shape& tile : tiles) add(MakeUnits(sizes, tile, instance.workers()).of);
  add(MakeUnits(sizes, Shape(sizes.size(), 1), instance.workers()).of);
  if (out.size() > kMostUnits) {
    out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(kMostUnits));
  }
  return out;
}

// The best, and the best that cost something else: layouts of equal cost are
// mostly one layout.
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

}  // namespace

Refiner::Refiner(const Instance& instance, const Candidate& start, const SearchLimits& limits)
    : instance_(instance),
      start_(start),
      limits_(limits),
      cells_(instance, start.nodes, HomeTier(instance.request(), start.preferences),
             limits.refine_cells),
      cell_of_(cells_.of_worker().begin(), cells_.of_worker().end()) {}

void Refiner::Run(std::span<const std::uint32_t> unit_of, std::uint32_t quarters,
                  std::uint64_t seed) {
  cell_of_ = Search(instance_, cells_, cell_of_, unit_of, limits_.seed * kSeeds + seed)
                 .Run(limits_, quarters);
}

void Refiner::Divide(const Pulls& pulls) {
  Exchange(pulls, cells_).Run(cell_of_, limits_.exchange_steps);
}

std::optional<Candidate> Refiner::Better() const {
  std::vector<fabric::NodeIndex> nodes = cells_.NodesFor(cell_of_);
  if (nodes == start_.nodes || !MeetsHardRules(instance_, nodes)) return std::nullopt;
  Candidate candidate = Evaluate(instance_, std::move(nodes));
  if (candidate.objective() >= start_.objective()) return std::nullopt;
  return candidate;
}

void RefineBest(const Instance& instance, const SearchLimits& limits, Int128 enough,
                std::vector<Candidate>& candidates) {
  if (instance.workers() < 2 || limits.refine_steps == 0) return;
  const auto reached = [&] { return candidates.empty() || candidates.front().cost <= enough; };
  const std::vector<UnitOf> units = UnitsToMove(instance);
  const std::vector<Candidate> starts = Starts(candidates, limits.StartsFor(instance.workers()));
  const Pulls pulls(instance);
  const auto refine = [&](const Candidate& start, std::uint32_t quarters, std::uint64_t seed) {
    Refiner refiner(instance, start, limits);
    refiner.Run(refiner.cells(), quarters, seed + kMostUnits);
    for (std::size_t u = 0; u < units.size(); ++u) refiner.Run(units[u], quarters, seed + u);
    refiner.Divide(pulls);
    auto found = refiner.Better();
    if (!found) return;
    const auto at = std::upper_bound(
        candidates.begin(), candidates.end(), *found,
        [](const auto& a, const auto& b) { return a.objective() < b.objective(); });
    candidates.insert(at, std::move(*found));
  };
  for (std::size_t i = 0; i < starts.size() && !reached(); ++i) refine(starts[i], 1, 0);
  if (!starts.empty() && !reached()) {
    const Candidate best = candidates.front();
    refine(best, 4 * limits.refine_rounds, 2 * kMostUnits);
  }
}

}  // namespace weft::placement
