#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/index.h"
#include "operator/objective/instance.h"

namespace weft::objective {

// A job divided into units: boxes of the grid of axes whose workers send each other much. Examples
// of units are an expert group, a ring of context, or the stages of one replica.
using UnitIndex = Index<struct UnitTag>;
struct Units {
  std::vector<std::uint32_t> tile;  // workers of a unit along each digit of the grid
  std::uint32_t size = 1;           // workers in a unit; all units have the same size
  std::vector<std::uint32_t> grid;  // sizes of the grid of units
  std::vector<UnitIndex> of;        // the unit of each worker

  std::uint32_t count() const { return static_cast<std::uint32_t>(of.size()) / size; }
  UnitIndex EndIndex() const { return UnitIndex(count()); }
};
Units MakeUnits(std::span<const std::uint32_t> grid, std::span<const std::uint32_t> tile,
                std::uint32_t workers);

namespace units_internal {

// Adds the bytes between the sets that hold ranks of one clique; a seat's `worker` is a set.
void AddPairs(std::vector<traffic::Seat>& seats, std::int64_t bytes_per_rank_pair,
              std::vector<traffic::Edge>& raw);
// Sorts edges by (a, b) and merges equal pairs.
std::vector<traffic::Edge> Merge(std::span<const traffic::Edge> raw, std::uint32_t count);

}  // namespace units_internal

// The bytes between the sets of workers before `stop`; `of` holds the set of each worker. The ends
// of an edge are sets. Ascending by (a, b).
template <typename Set>
std::vector<traffic::Edge> TrafficBetween(const traffic::WorkerGraph& graph,
                                          const std::vector<Set>& of, Set stop) {
  WEFT_CHECK(of.size() == graph.workers());
  std::vector<traffic::Edge> raw;
  for (const traffic::Edge& edge : graph.edges()) {
    const Set a = of[edge.a], b = of[edge.b];
    if (a != b) raw.push_back({std::min(a, b).Raw(), std::max(a, b).Raw(), edge.bytes});
  }
  std::vector<traffic::Seat> seats;  // a clique's ranks by set
  for (const traffic::Clique& clique : graph.cliques()) {
    seats = clique.members;
    for (traffic::Seat& seat : seats) seat.worker = of[seat.worker].Raw();
    units_internal::AddPairs(seats, clique.bytes_per_rank_pair, raw);
  }
  return units_internal::Merge(raw, stop.Raw());
}

}  // namespace weft::objective
