#include "operator/placement/units.h"

#include <algorithm>

#include "operator/base/units.h"

namespace weft::placement {

using traffic::Edge;

namespace {

constexpr std::size_t kMostMembers = 256;  // of a clique whose pairs become edges

std::uint32_t Product(std::span<const std::uint32_t> sizes) {
  std::uint32_t product = 1;
  for (std::uint32_t size : sizes) product *= size;
  return product;
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

std::vector<Edge> TrafficBetween(const traffic::WorkerGraph& graph,
                                 std::span<const std::uint32_t> of, std::uint32_t count) {
  std::vector<Edge> raw;
  for (const Edge& edge : graph.edges()) {
    const std::uint32_t a = of[edge.a], b = of[edge.b];
    if (a != b) raw.push_back({std::min(a, b), std::max(a, b), edge.bytes});
  }
  std::vector<traffic::Seat> seats;  // a clique's ranks by unit, where "worker" is the unit
  for (const traffic::Clique& clique : graph.cliques()) {
    seats = clique.members;
    for (traffic::Seat& seat : seats) seat.worker = of[seat.worker];
    std::sort(seats.begin(), seats.end(),
              [](const auto& x, const auto& y) { return x.worker < y.worker; });
    std::size_t kept = 0;
    for (const traffic::Seat& seat : seats) {
      if (kept > 0 && seats[kept - 1].worker == seat.worker) {
        seats[kept - 1].ranks += seat.ranks;
      } else {
        seats[kept++] = seat;
      }
    }
    if (kept > kMostMembers) continue;
    for (std::size_t i = 0; i < kept; ++i) {
      for (std::size_t j = i + 1; j < kept; ++j) {
        const std::int64_t pairs = static_cast<std::int64_t>(seats[i].ranks) * seats[j].ranks;
        raw.push_back({seats[i].worker, seats[j].worker,
                       SaturatingMultiply(pairs, clique.bytes_per_rank_pair)});
      }
    }
  }
  return Merge(raw, count);
}

UnitTraffic MeasureUnits(const traffic::WorkerGraph& graph, const Units& units) {
  UnitTraffic traffic;
  traffic.between = TrafficBetween(graph, units.of, units.count());
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
