#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/index.h"
#include "operator/base/units.h"
#include "operator/objective/instance.h"

namespace weft::objective {

// A job divided into units: boxes of the grid of axes whose workers send each other much. Examples
// of units are an expert group, a ring of context, or the stages of one replica.
using UnitIndex = Index<struct UnitTag>;
struct Units {
  std::vector<std::uint32_t> tile;  // workers of a unit along each digit of the grid
  std::uint32_t size = 1;           // workers in a unit; all units have the same size
  std::vector<std::uint32_t> grid;  // sizes of the grid of units
  ByWorker<UnitIndex> of;           // the unit of each worker

  std::uint32_t count() const { return static_cast<std::uint32_t>(of.size()) / size; }
  UnitIndex EndIndex() const { return UnitIndex(count()); }
};
Units MakeUnits(std::span<const std::uint32_t> grid, std::span<const std::uint32_t> tile,
                std::uint32_t workers);

// Bytes between units.
using UnitEdge = traffic::EdgeBetween<UnitIndex>;

namespace units_internal {

constexpr std::size_t kMostMembers = 256;  // most members of a clique whose pairs become edges

// A set, and how many ranks of a clique it holds.
template <typename Set>
struct Holding {
  Set set{};
  std::uint32_t ranks = 0;
};

// Adds the bytes between the sets that hold ranks of one clique.
template <typename Set>
void AddPairs(std::vector<Holding<Set>>& holdings, std::int64_t bytes_per_rank_pair,
              std::vector<traffic::EdgeBetween<Set>>& raw) {
  std::sort(holdings.begin(), holdings.end(),
            [](const auto& x, const auto& y) { return x.set < y.set; });
  std::size_t kept = 0;
  for (const Holding<Set>& holding : holdings) {
    if (kept > 0 && holdings[kept - 1].set == holding.set) {
      holdings[kept - 1].ranks += holding.ranks;
    } else {
      holdings[kept++] = holding;
    }
  }
  if (kept > kMostMembers) return;
  for (std::size_t i = 0; i < kept; ++i) {
    for (std::size_t j = i + 1; j < kept; ++j) {
      const std::int64_t pairs = static_cast<std::int64_t>(holdings[i].ranks) * holdings[j].ranks;
      raw.push_back(
          {holdings[i].set, holdings[j].set, SaturatingMultiply(pairs, bytes_per_rank_pair)});
    }
  }
}

// Sorts edges by (a, b) and merges equal pairs: a counting sort by a, then short runs by b.
template <typename Set>
std::vector<traffic::EdgeBetween<Set>> Merge(std::span<const traffic::EdgeBetween<Set>> raw,
                                             Set stop) {
  using Edge = traffic::EdgeBetween<Set>;
  IndexVector<Set, std::uint32_t> end(stop + 1, 0);
  for (const Edge& edge : raw) {
    WEFT_DCHECK(edge.a < edge.b && edge.b < stop);
    ++end[edge.a + 1];
  }
  for (Set v{}; v < stop; ++v) end[v + 1] += end[v];
  IndexVector<Set, std::uint32_t> next(end.begin(), end.end() - 1);
  std::vector<Edge> sorted(raw.size()), merged;
  for (const Edge& edge : raw) sorted[next[edge.a]++] = edge;
  for (Set v{}; v < stop; ++v) {
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

}  // namespace units_internal

// The bytes between the sets of workers before `stop`; `of` holds the set of each worker. The ends
// of an edge are sets. Ascending by (a, b).
template <typename Set>
std::vector<traffic::EdgeBetween<Set>> TrafficBetween(const traffic::WorkerGraph& graph,
                                                      const ByWorker<Set>& of, Set stop) {
  WEFT_CHECK(of.size() == graph.workers());
  std::vector<traffic::EdgeBetween<Set>> raw;
  for (const traffic::Edge& edge : graph.edges()) {
    const Set a = of[edge.a], b = of[edge.b];
    if (a != b) raw.push_back({std::min(a, b), std::max(a, b), edge.bytes});
  }
  std::vector<units_internal::Holding<Set>> holdings;  // of a clique's ranks
  for (const traffic::Clique& clique : graph.cliques()) {
    holdings.clear();
    for (const traffic::Seat& seat : clique.members)
      holdings.push_back({of[seat.worker], seat.ranks});
    units_internal::AddPairs(holdings, clique.bytes_per_rank_pair, raw);
  }
  return units_internal::Merge(std::span<const traffic::EdgeBetween<Set>>(raw), stop);
}

}  // namespace weft::objective
