#include "operator/search/pieces.h"

#include <algorithm>

#include "operator/base/check.h"

namespace weft::search {

using objective::Instance;
using Edge = traffic::EdgeBetween<PieceIndex>;

namespace {

constexpr int kSumBits = 60;                // limit of all bytes times the largest weight
constexpr std::int64_t kOfAllTraffic = 64;  // share by which a pair of a preferred set attracts

// Whether all workers of the set are in one domain of the tier that they prefer.
bool IsWhole(const Instance& instance, const Instance::PreferredSet& set, const Pieces& pieces,
             const Cells& cells) {
  const auto& of_node = instance.fabric().domains(set.tier).of_node;
  const auto domain = [&](WorkerIndex worker) {
    return of_node[cells.node(pieces.cell[pieces.of[worker]])];
  };
  const auto first = domain(set.workers.front());
  return std::all_of(set.workers.begin(), set.workers.end(),
                     [&](WorkerIndex worker) { return domain(worker) == first; });
}

std::vector<Edge> EdgesBetween(const Instance& instance, const Pieces& pieces, const Cells& cells) {
  std::vector<Edge> edges =
      objective::TrafficBetween(instance.graph(), pieces.of, pieces.EndIndex());
  if (instance.preferred_sets().empty()) return edges;
  std::int64_t all = 1;
  for (const Edge& edge : edges) all = SaturatingAdd(all, edge.bytes);
  for (const Instance::PreferredSet& set : instance.preferred_sets()) {
    // A set in two parts would be drawn to 15 + 1, where 8 + 8 costs least.
    if (!IsWhole(instance, set, pieces, cells)) continue;
    for (const WorkerIndex worker : set.workers) {
      const PieceIndex a = pieces.of[set.workers.front()], b = pieces.of[worker];
      if (a == b) continue;
      edges.push_back({std::min(a, b), std::max(a, b), all / kOfAllTraffic});
    }
  }
  return edges;
}

}  // namespace

Pieces::Pieces(IndexSpan<WorkerIndex, const CellIndex> cell_of,
               IndexSpan<WorkerIndex, const objective::UnitIndex> unit_of)
    : of(unit_of.size()) {
  struct Key {
    std::uint64_t unit_and_cell;
    WorkerIndex worker;
  };
  WEFT_CHECK(cell_of.size() == unit_of.size());  // by worker
  std::vector<Key> keys;
  keys.reserve(unit_of.size());
  for (const WorkerIndex w : unit_of.Indices()) {
    keys.push_back({std::uint64_t{unit_of[w].Raw()} << 32 | cell_of[w].Raw(), w});
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return a.unit_and_cell != b.unit_and_cell ? a.unit_and_cell < b.unit_and_cell
                                              : a.worker < b.worker;
  });
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i == 0 || keys[i].unit_and_cell != keys[i - 1].unit_and_cell) {
      size.push_back(0);
      cell.push_back(cell_of[keys[i].worker]);
    }
    ++size.back();
    of[keys[i].worker] = EndIndex() - 1;
  }
}

ByWorker<CellIndex> Pieces::CellOfWorkers() const {
  ByWorker<CellIndex> cells;
  cells.reserve(of.size());
  for (const PieceIndex piece : of) cells.push_back(cell[piece]);
  return cells;
}

Pulls::Pulls(const Instance& instance, const Pieces& pieces, const Cells& cells)
    : begin_(pieces.EndIndex() + 1, 0) {
  const std::vector<Edge> edges = EdgesBetween(instance, pieces, cells);
  Int128 all = 0;
  for (const Edge& edge : edges) {
    WEFT_DCHECK(edge.a != edge.b && std::max(edge.a, edge.b) < pieces.EndIndex());
    ++begin_[edge.a + 1];
    ++begin_[edge.b + 1];
    all += edge.bytes;
  }
  for (PieceIndex p{0}; p < pieces.EndIndex(); ++p) begin_[p + 1] += begin_[p];
  int shift = 0;
  while ((all >> shift) * cells.most_weight() >> kSumBits > 0) ++shift;
  peers_.resize(2 * edges.size());
  ByPiece<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (const Edge& edge : edges) {
    peers_[next[edge.a]++] = {edge.b, edge.bytes >> shift};
    peers_[next[edge.b]++] = {edge.a, edge.bytes >> shift};
  }
}

}  // namespace weft::search
