#include "operator/placement/units.h"

#include <algorithm>

#include "operator/base/units.h"

namespace weft::placement {

using traffic::Edge;

namespace {

using Tile = std::vector<std::uint32_t>;

constexpr std::uint32_t kLargestUnit = 64;  // the least cut takes its cube in steps
constexpr std::size_t kMostTiles = 8;       // the heaviest digits' come first
// A piece of a ring sends the fewer bytes out per worker the longer it is, in proportion. A tile
// is natural where a unit sends less than this share of that.
constexpr int kNaturalPercent = 60;

std::uint32_t Product(std::span<const std::uint32_t> sizes) {
  std::uint32_t product = 1;
  for (std::uint32_t size : sizes) product *= size;
  return product;
}

// Bytes between workers of different blocks of `length` along one digit.
Int128 LeavingBlocks(const traffic::WorkerGraph& graph, std::uint32_t stride, std::uint32_t size,
                     std::uint32_t length) {
  const auto block = [&](std::uint32_t worker) { return worker / stride % size / length; };
  Int128 sum = 0;
  for (const Edge& edge : graph.edges()) {
    if (block(edge.a) != block(edge.b)) sum += edge.bytes;
  }
  for (const traffic::Clique& clique : graph.cliques()) {
    std::vector<std::int64_t> ranks(size / length, 0);
    Int128 all = 0, together = 0;
    for (const traffic::Seat& member : clique.members) {
      ranks[block(member.worker)] += member.ranks;
      all += member.ranks;
    }
    for (std::int64_t count : ranks) together += static_cast<Int128>(count) * count;
    sum += (all * all - together) / 2 * clique.bytes_per_rank_pair;
  }
  return sum;
}

struct Digit {
  std::size_t at = 0;
  Int128 bytes = 0;                    // between workers that differ in it
  std::vector<std::uint32_t> lengths;  // natural ones, ascending
};

Digit MeasureDigit(const traffic::WorkerGraph& graph, std::span<const std::uint32_t> grid,
                   std::size_t at) {
  Digit digit{.at = at, .bytes = 0, .lengths = {}};
  const std::uint32_t stride = Product(grid.first(at)), size = grid[at];
  Int128 least = -1;  // bytes times length, over the divisors so far
  for (std::uint32_t length = 1; length <= size; ++length) {
    if (size % length != 0) continue;
    const Int128 leaving = LeavingBlocks(graph, stride, size, length);
    const Int128 scaled = leaving * length;
    if (length == 1) digit.bytes = leaving;
    if (length > 1 && digit.bytes > 0 && scaled * 100 < least * kNaturalPercent) {
      digit.lengths.push_back(length);
    }
    if (least < 0 || scaled < least) least = scaled;
  }
  return digit;
}

// Edges by (a, b), each pair once: a counting sort by a, then short runs by b.
std::vector<Edge> Merge(std::span<const Edge> raw, std::uint32_t count) {
  std::vector<std::uint32_t> end(count + 1, 0);
  for (const Edge& edge : raw) ++end[edge.a + 1];
  for (std::uint32_t v = 0; v < count; ++v) end[v + 1] += end[v];
  std::vector<std::uint32_t> next(end.begin(), end.end() - 1);
  std::vector<Edge> sorted(raw.size()), merged;
  for (const Edge& edge : raw) sorted[next[edge.a]++] = edge;
  for (std::uint32_t v = 0; v < count; ++v) {
    std::sort(sorted.begin() + end[v], sorted.begin() + end[v + 1],
              [](const Edge& x, const Edge& y) { return x.b < y.b; });
    for (std::uint32_t i = end[v]; i < end[v + 1]; ++i) {
      if (!merged.empty() && merged.back().a == v && merged.back().b == sorted[i].b) {
        merged.back().bytes = SaturatingAdd(merged.back().bytes, sorted[i].bytes);
      } else {
        merged.push_back(sorted[i]);
      }
    }
  }
  return merged;
}

// Bytes between each two workers of a unit, the least over all units.
class LeastInside {
 public:
  LeastInside(const traffic::WorkerGraph& graph, const Units& units) : units_(units) {
    std::vector<std::uint32_t> seen(units.count(), 0);
    for (std::uint32_t unit : units.of) place_.push_back(seen[unit]++);
    const std::size_t cells = std::size_t{units.size} * units.size * units.count();
    bytes_.assign(cells, 0);
    for (const Edge& edge : graph.edges()) Add(edge.a, edge.b, edge.bytes);
    for (const traffic::Clique& clique : graph.cliques()) AddClique(clique);
    Reduce();
  }

  std::vector<std::int64_t> Take() { return std::move(least_); }

 private:
  void Add(std::uint32_t a, std::uint32_t b, std::int64_t bytes) {
    if (units_.of[a] != units_.of[b]) return;
    std::int64_t& cell =
        bytes_[(std::size_t{units_.of[a]} * units_.size + place_[a]) * units_.size + place_[b]];
    cell = SaturatingAdd(cell, bytes);
  }
  void AddClique(const traffic::Clique& clique) {
    std::vector<traffic::Seat> members = clique.members;
    std::stable_sort(members.begin(), members.end(), [&](const auto& x, const auto& y) {
      return units_.of[x.worker] < units_.of[y.worker];
    });
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t j = i + 1; j < members.size(); ++j) {
        if (units_.of[members[j].worker] != units_.of[members[i].worker]) break;
        const std::int64_t pairs = static_cast<std::int64_t>(members[i].ranks) * members[j].ranks;
        Add(members[i].worker, members[j].worker,
            SaturatingMultiply(pairs, clique.bytes_per_rank_pair));
      }
    }
  }
  void Reduce() {
    const std::size_t size = units_.size;
    least_.assign(size * size, Bytes::kMax);
    for (std::size_t unit = 0; unit < units_.count(); ++unit) {
      for (std::size_t a = 0; a < size; ++a) {
        for (std::size_t b = a + 1; b < size; ++b) {
          const std::int64_t bytes = bytes_[(unit * size + a) * size + b];
          least_[a * size + b] = std::min(least_[a * size + b], bytes);
        }
      }
    }
    for (std::size_t a = 0; a < size; ++a) {
      least_[a * size + a] = 0;
      for (std::size_t b = 0; b < a; ++b) least_[a * size + b] = least_[b * size + a];
    }
  }

  const Units& units_;
  std::vector<std::uint32_t> place_;  // of a worker in its unit, in order of the workers
  std::vector<std::int64_t> bytes_;   // unit x place x place, the lesser place first
  std::vector<std::int64_t> least_;   // place x place
};

// The least that any cut in two takes. Source: Stoer and Wagner, "A simple min-cut algorithm",
// Journal of the ACM, 1997.
std::int64_t LeastCut(std::vector<std::int64_t> bytes, std::size_t size) {
  std::vector<std::size_t> alive(size);
  for (std::size_t i = 0; i < size; ++i) alive[i] = i;
  std::int64_t least = Bytes::kMax;
  while (alive.size() > 1) {
    std::vector<std::int64_t> to_set(size, 0);
    std::vector<bool> in_set(size, false);
    std::size_t last = alive.front(), before = last;
    for (std::size_t step = 0; step < alive.size(); ++step) {
      std::size_t next = size;
      for (std::size_t v : alive) {
        if (!in_set[v] && (next == size || to_set[v] > to_set[next])) next = v;
      }
      in_set[next] = true;
      before = last;
      last = next;
      for (std::size_t v : alive) to_set[v] = SaturatingAdd(to_set[v], bytes[next * size + v]);
    }
    least = std::min(least, to_set[last] - bytes[last * size + last]);
    for (std::size_t v : alive) {
      if (v == before || v == last) continue;
      const std::int64_t sum = SaturatingAdd(bytes[before * size + v], bytes[last * size + v]);
      bytes[before * size + v] = bytes[v * size + before] = sum;
    }
    std::erase(alive, last);
  }
  return least;
}

}  // namespace

Units MakeUnits(std::span<const std::uint32_t> grid, std::span<const std::uint32_t> tile,
                std::uint32_t workers) {
  Units units;
  units.tile.assign(tile.begin(), tile.end());
  units.size = Product(tile);
  units.of.assign(workers, 0);
  std::uint32_t stride = 1, unit_stride = 1;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    for (std::uint32_t w = 0; w < workers; ++w) {
      units.of[w] += w / stride % grid[i] / tile[i] * unit_stride;
    }
    stride *= grid[i];
    unit_stride *= grid[i] / tile[i];
    units.grid.push_back(grid[i] / tile[i]);
  }
  return units;
}

std::vector<Tile> NaturalTiles(const traffic::WorkerGraph& graph,
                               std::span<const std::uint32_t> grid) {
  std::vector<Digit> digits;
  for (std::size_t i = 0; i < grid.size(); ++i) digits.push_back(MeasureDigit(graph, grid, i));
  std::stable_sort(digits.begin(), digits.end(),
                   [](const Digit& a, const Digit& b) { return a.bytes > b.bytes; });
  std::vector<Tile> tiles;
  const auto add = [&](const Tile& tile) {
    const std::uint32_t size = Product(tile);
    if (size < 2 || size > kLargestUnit || size * 2 > graph.workers()) return;
    if (tiles.size() == kMostTiles) return;
    if (std::find(tiles.begin(), tiles.end(), tile) == tiles.end()) tiles.push_back(tile);
  };
  Tile inner(grid.size(), 1);  // the heavier digits, whole
  for (const Digit& digit : digits) {
    for (std::uint32_t length : digit.lengths) {
      Tile tile = inner;
      tile[digit.at] = length;
      add(tile);
    }
    inner[digit.at] = grid[digit.at];
  }
  for (const Digit& digit : digits) {
    for (std::uint32_t length : digit.lengths) {
      Tile tile(grid.size(), 1);
      tile[digit.at] = length;
      add(tile);
    }
  }
  return tiles;
}

UnitTraffic MeasureUnits(const traffic::WorkerGraph& graph, const Units& units) {
  UnitTraffic traffic;
  std::vector<Edge> raw;
  for (const Edge& edge : graph.edges()) {
    const std::uint32_t a = units.of[edge.a], b = units.of[edge.b];
    if (a != b) raw.push_back({std::min(a, b), std::max(a, b), edge.bytes});
  }
  traffic.between = Merge(raw, units.count());
  const std::vector<std::int64_t> inside = LeastInside(graph, units).Take();
  traffic.least_cut = LeastCut(inside, units.size);
  traffic.each_pair = Bytes::kMax;
  for (std::size_t a = 0; a < units.size; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      traffic.each_pair = std::min(traffic.each_pair, inside[a * units.size + b]);
    }
  }
  return traffic;
}

}  // namespace weft::placement
