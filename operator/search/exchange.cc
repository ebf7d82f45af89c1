#include "operator/search/exchange.h"

#include <algorithm>
#include <limits>

#include "operator/base/check.h"

namespace weft::search {

namespace {

constexpr PieceIndex kNone{~0U};
// A chain ends after this many steps without a new least cost.
constexpr std::size_t kInVain = 24;
constexpr std::int64_t kAnySize = std::numeric_limits<std::int64_t>::max();

}  // namespace

Exchange::Exchange(const Pulls& pulls, const Cells& cells)
    : pulls_(pulls),
      cells_(cells),
      gain_(pulls.EndIndex(), 0),
      open_(pulls.EndIndex(), 0),
      linked_(std::size_t{cells.size()} * cells.size(), 0) {}

void Exchange::Run(Pieces& pieces, std::uint64_t steps) {
  cell_of_ = pieces.cell;
  size_ = pieces.size;
  WEFT_CHECK(cell_of_.size() == size_.size() && gain_.size() == size_.size());  // by piece
  steps_ = steps;
  in_cell_.assign(cells_.EndIndex(), {});
  free_.resize(cells_.EndIndex());
  for (CellIndex c{0}; c < cells_.EndIndex(); ++c) free_[c] = cells_.slots(c);
  for (const PieceIndex p : cell_of_.Indices()) {
    in_cell_[cell_of_[p]].push_back(p);
    free_[cell_of_[p]] -= size_[p];
    WEFT_CHECK(free_[cell_of_[p]] >= 0);  // the start has no more workers than slots
  }
  ByCell<std::uint8_t> changed(cells_.EndIndex(), 1);
  while (std::find(changed.begin(), changed.end(), 1) != changed.end() && steps_ > 0) {
    ByCell<std::uint8_t> next(cells_.EndIndex(), 0);
    for (const Pair& pair : ConnectedPairs()) {
      if (changed[pair.a] == 0 && changed[pair.b] == 0) continue;
      if (steps_ == 0) break;
      if (Divide(pair)) next[pair.a] = next[pair.b] = 1;
    }
    changed = std::move(next);
  }
  pieces.cell = cell_of_;
}

// Pairs of cells with pieces that attract each other.
std::vector<Exchange::Pair> Exchange::ConnectedPairs() {
  std::vector<Pair> pairs;
  for (const PieceIndex p : cell_of_.Indices()) {
    for (const Pulls::Peer& peer : pulls_.of(p)) {
      const Pair pair{cell_of_[p], cell_of_[peer.piece]};
      if (pair.a >= pair.b || linked_[Linked(pair)] != 0) continue;
      linked_[Linked(pair)] = 1;
      pairs.push_back(pair);
    }
  }
  for (const Pair& pair : pairs) linked_[Linked(pair)] = 0;
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

std::int64_t Exchange::Gain(PieceIndex piece, CellIndex to) const {
  const CellIndex from = cell_of_[piece];
  std::int64_t gain = 0;
  for (const Pulls::Peer& peer : pulls_.of(piece)) {
    const CellIndex at = cell_of_[peer.piece];
    gain += peer.bytes * (cells_.Weight(from, at) - cells_.Weight(to, at));
  }
  return gain;
}

void Exchange::MoveTo(PieceIndex piece, CellIndex to) {
  free_[cell_of_[piece]] += size_[piece];
  free_[to] -= size_[piece];
  cell_of_[piece] = to;
}

void Exchange::Open(CellIndex from, CellIndex to) {
  for (const PieceIndex p : in_cell_[from]) {
    gain_[p] = Gain(p, to);
    open_[p] = 1;
  }
}

// Redistributes the pieces of two cells; returns whether they cost less now.
bool Exchange::Divide(Pair pair) {
  in_a_ = in_cell_[pair.a];
  in_b_ = in_cell_[pair.b];
  done_.clear();
  change_ = 0;
  Open(pair.a, pair.b);
  Open(pair.b, pair.a);
  std::int64_t least = 0;
  std::size_t kept = 0, vain = 0;
  while (vain < kInVain && steps_ > 0 && Step(pair)) {
    ++vain;
    if (change_ >= least) continue;
    least = change_;
    kept = done_.size();
    vain = 0;
  }
  for (std::size_t i = done_.size(); i-- > kept;) MoveTo(done_[i].piece, done_[i].from);
  WEFT_CHECK(free_[pair.a] >= 0 && free_[pair.b] >= 0);  // below 0 only within a swap
  for (const PieceIndex p : in_a_) open_[p] = 0;
  for (const PieceIndex p : in_b_) open_[p] = 0;
  if (kept == 0) return false;
  std::vector<PieceIndex> all = std::move(in_cell_[pair.a]);
  all.insert(all.end(), in_cell_[pair.b].begin(), in_cell_[pair.b].end());
  in_cell_[pair.a].clear();
  in_cell_[pair.b].clear();
  std::sort(all.begin(), all.end());
  for (const PieceIndex p : all) in_cell_[cell_of_[p]].push_back(p);
  return true;
}

// Of the open pieces with a size in [least, most], the one that saves
// most.
PieceIndex Exchange::Best(std::span<const PieceIndex> open, std::int64_t least,
                          std::int64_t most) const {
  PieceIndex best = kNone;
  for (const PieceIndex p : open) {
    if (best != kNone && gain_[p] <= gain_[best]) continue;
    if (size_[p] >= least && size_[p] <= most) best = p;
  }
  return best;
}

// Moves the piece that saves most. In exchange it moves the piece that then saves most back, if
// that saves too or the room requires it. Returns false if no piece is left.
bool Exchange::Step(Pair pair) {
  steps_ -= std::min<std::uint64_t>(steps_, in_a_.size() + in_b_.size());
  const PieceIndex a = Best(in_a_, 0, kAnySize), b = Best(in_b_, 0, kAnySize);
  if (a == kNone && b == kNone) return false;
  const bool a_first = b == kNone || (a != kNone && gain_[a] >= gain_[b]);
  const PieceIndex first = a_first ? a : b;
  const CellIndex from = a_first ? pair.a : pair.b, to = a_first ? pair.b : pair.a;
  Move(pair, first);
  const PieceIndex second = Best(a_first ? in_b_ : in_a_, -free_[to], free_[from]);
  if (second != kNone && (free_[to] < 0 || gain_[second] >= 0)) {
    Move(pair, second);
  } else if (free_[to] < 0) {
    TakeBack(pair);
  }
  return true;
}

// Moves a piece to the other cell for the rest of the chain, and updates the gains of its peers.
void Exchange::Move(Pair pair, PieceIndex piece) {
  const CellIndex from = cell_of_[piece], to = from == pair.a ? pair.b : pair.a;
  WEFT_DCHECK(from == pair.a || from == pair.b);
  WEFT_DCHECK(gain_[piece] == Gain(piece, to));  // Follow kept it up to date
  change_ -= gain_[piece];
  done_.push_back({piece, from, to});
  std::erase(from == pair.a ? in_a_ : in_b_, piece);
  open_[piece] = 0;
  MoveTo(piece, to);
  Follow(pair, piece);
}

// Undoes the last move, which had no room. The piece then stays in its cell for the rest of the
// chain.
void Exchange::TakeBack(Pair pair) {
  WEFT_DCHECK(!done_.empty());
  const Done last = done_.back();
  done_.pop_back();
  change_ += gain_[last.piece];
  MoveTo(last.piece, last.from);
  Follow(pair, last.piece);
}

// Updates the gains of a piece's peers after its move.
void Exchange::Follow(Pair pair, PieceIndex piece) {
  const std::int64_t apart = 2 * cells_.Weight(pair.a, pair.b) - cells_.Weight(pair.a, pair.a) -
                             cells_.Weight(pair.b, pair.b);
  for (const Pulls::Peer& peer : pulls_.of(piece)) {
    if (open_[peer.piece] == 0) continue;
    const std::int64_t more = apart * peer.bytes;
    gain_[peer.piece] += cell_of_[peer.piece] == cell_of_[piece] ? -more : more;
  }
}

}  // namespace weft::search
