#include "operator/placement/exchange.h"

#include <algorithm>

#include "operator/placement/units.h"

namespace weft::placement {

using traffic::Edge;
using traffic::Neighbour;

namespace {

constexpr std::uint32_t kNone = ~0U;
// A chain ends after so many steps without a new least cost.
constexpr std::size_t kInVain = 24;

}  // namespace

std::vector<Edge> PullsBetween(const Instance& instance, std::span<const std::uint32_t> of,
                               std::uint32_t pieces) {
  std::vector<Edge> edges = TrafficBetween(instance.graph(), of, pieces);
  if (instance.preferred_sets().empty()) return edges;
  std::int64_t most = 1;
  for (const Edge& edge : edges) most = SaturatingAdd(most, edge.bytes);
  for (const Instance::PreferredSet& set : instance.preferred_sets()) {
    for (const std::uint32_t worker : set.workers) {
      const std::uint32_t a = of[set.workers.front()], b = of[worker];
      if (a != b) edges.push_back({std::min(a, b), std::max(a, b), most / 64});
    }
  }
  return edges;
}

Pulls::Pulls(const Instance& instance) : begin_(instance.workers() + 1, 0) {
  std::vector<std::uint32_t> self(instance.workers());
  for (std::uint32_t w = 0; w < self.size(); ++w) self[w] = w;
  const std::vector<Edge> edges = PullsBetween(instance, self, instance.workers());
  for (const Edge& edge : edges) {
    ++begin_[edge.a + 1];
    ++begin_[edge.b + 1];
  }
  for (std::uint32_t w = 0; w < self.size(); ++w) begin_[w + 1] += begin_[w];
  peers_.resize(2 * edges.size());
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (const Edge& edge : edges) {
    peers_[next[edge.a]++] = {edge.b, edge.bytes};
    peers_[next[edge.b]++] = {edge.a, edge.bytes};
  }
}

Exchange::Exchange(const Pulls& pulls, const Cells& cells)
    : pulls_(pulls), cells_(cells), gain_(pulls.workers(), 0), open_(pulls.workers(), 0) {}

void Exchange::Run(std::vector<std::uint32_t>& cell_of, std::uint64_t steps) {
  cell_of_ = cell_of;
  steps_ = steps;
  in_cell_.assign(cells_.size(), {});
  free_.resize(cells_.size());
  for (std::uint32_t w = 0; w < cell_of_.size(); ++w) in_cell_[cell_of_[w]].push_back(w);
  for (std::uint32_t c = 0; c < cells_.size(); ++c) {
    free_[c] = cells_.slots(c) - static_cast<std::uint32_t>(in_cell_[c].size());
  }
  std::vector<std::uint8_t> changed(cells_.size(), 1);
  while (std::find(changed.begin(), changed.end(), 1) != changed.end() && steps_ > 0) {
    std::vector<std::uint8_t> next(cells_.size(), 0);
    for (const Pair& pair : ConnectedPairs()) {
      if (changed[pair.a] == 0 && changed[pair.b] == 0) continue;
      if (steps_ == 0) break;
      if (Divide(pair)) next[pair.a] = next[pair.b] = 1;
    }
    changed = std::move(next);
  }
  cell_of = cell_of_;
}

// Cells with workers that send to each other.
std::vector<Exchange::Pair> Exchange::ConnectedPairs() const {
  std::vector<Pair> pairs;
  for (std::uint32_t w = 0; w < cell_of_.size(); ++w) {
    for (const Neighbour& peer : pulls_.of(w)) {
      if (peer.worker < w || cell_of_[peer.worker] == cell_of_[w]) continue;
      pairs.push_back({std::min(cell_of_[w], cell_of_[peer.worker]),
                       std::max(cell_of_[w], cell_of_[peer.worker])});
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

Int128 Exchange::Gain(std::uint32_t worker, std::uint32_t to) const {
  const std::uint32_t from = cell_of_[worker];
  Int128 gain = 0;
  for (const Neighbour& peer : pulls_.of(worker)) {
    const std::uint32_t at = cell_of_[peer.worker];
    gain += static_cast<Int128>(peer.bytes) * (cells_.Weight(from, at) - cells_.Weight(to, at));
  }
  return gain;
}

Int128 Exchange::Between(std::uint32_t a, std::uint32_t b) const {
  Int128 bytes = 0;
  for (const Neighbour& peer : pulls_.of(a)) {
    if (peer.worker == b) bytes += peer.bytes;
  }
  return bytes;
}

void Exchange::MoveTo(std::uint32_t worker, std::uint32_t to) {
  ++free_[cell_of_[worker]];
  --free_[to];
  cell_of_[worker] = to;
}

// Whether the two cells cost less now.
bool Exchange::Divide(Pair pair) {
  Chain chain{in_cell_[pair.a], in_cell_[pair.b], {}, 0};
  for (const auto* side : {&chain.in_a, &chain.in_b}) {
    for (const std::uint32_t w : *side) {
      gain_[w] = Gain(w, side == &chain.in_a ? pair.b : pair.a);
      open_[w] = 1;
    }
  }
  Int128 least = 0;
  std::size_t kept = 0, vain = 0;
  while (vain < kInVain && steps_ > 0 && Step(pair, chain)) {
    ++vain;
    if (chain.change >= least) continue;
    least = chain.change;
    kept = chain.done.size();
    vain = 0;
  }
  for (std::size_t i = chain.done.size(); i-- > kept;) {
    MoveTo(chain.done[i].worker, chain.done[i].from);
  }
  for (const auto* side : {&chain.in_a, &chain.in_b}) {
    for (const std::uint32_t w : *side) open_[w] = 0;
  }
  if (kept == 0) return false;
  std::vector<std::uint32_t> all = std::move(in_cell_[pair.a]);
  all.insert(all.end(), in_cell_[pair.b].begin(), in_cell_[pair.b].end());
  in_cell_[pair.a].clear();
  in_cell_[pair.b].clear();
  std::sort(all.begin(), all.end());
  for (const std::uint32_t w : all) in_cell_[cell_of_[w]].push_back(w);
  return true;
}

// The best move or swap of workers that have not moved yet; false where none is left.
bool Exchange::Step(Pair pair, Chain& chain) {
  const auto best = [&](const std::vector<std::uint32_t>& from) {
    std::uint32_t found = kNone;
    for (const std::uint32_t w : from) {
      if (found == kNone || gain_[w] > gain_[found]) found = w;
    }
    return found;
  };
  steps_ -= std::min<std::uint64_t>(steps_, chain.in_a.size() + chain.in_b.size());
  const std::uint32_t a = best(chain.in_a), b = best(chain.in_b);
  const bool a_fits = a != kNone && free_[pair.b] > 0, b_fits = b != kNone && free_[pair.a] > 0;
  if (a != kNone && b != kNone) {
    const Int128 both =
        gain_[a] + gain_[b] -
        Between(a, b) * (2 * cells_.Weight(pair.a, pair.b) - cells_.Weight(pair.a, pair.a) -
                         cells_.Weight(pair.b, pair.b));
    const bool alone_is_better = (a_fits && gain_[a] > both) || (b_fits && gain_[b] > both);
    if (!alone_is_better) {
      Move(pair, a, chain);
      Move(pair, b, chain);
      return true;
    }
  }
  if (!a_fits && !b_fits) return false;
  Move(pair, a_fits && (!b_fits || gain_[a] >= gain_[b]) ? a : b, chain);
  return true;
}

// Moves a worker to the other cell for the rest of the chain; its peers' gains follow.
void Exchange::Move(Pair pair, std::uint32_t worker, Chain& chain) {
  const std::uint32_t from = cell_of_[worker], to = from == pair.a ? pair.b : pair.a;
  chain.change -= gain_[worker];
  chain.done.push_back({worker, from, to});
  std::erase(from == pair.a ? chain.in_a : chain.in_b, worker);
  open_[worker] = 0;
  MoveTo(worker, to);
  const Int128 apart = 2 * static_cast<Int128>(cells_.Weight(pair.a, pair.b)) -
                       cells_.Weight(pair.a, pair.a) - cells_.Weight(pair.b, pair.b);
  for (const Neighbour& peer : pulls_.of(worker)) {
    if (open_[peer.worker] == 0) continue;
    const Int128 more = apart * peer.bytes;
    gain_[peer.worker] += cell_of_[peer.worker] == to ? -more : more;
  }
}

}  // namespace weft::placement
