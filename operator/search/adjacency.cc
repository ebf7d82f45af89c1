#include "operator/search/adjacency.h"

#include "operator/base/units.h"

namespace weft::search {

Adjacency::Adjacency(const traffic::WorkerGraph& graph) : graph_(&graph) {
  if (graph.cliques().empty()) return;
  unfolded_.resize(graph.workers());
  for (const WorkerIndex w : Range<WorkerIndex>(graph.workers())) {
    const auto neighbours = graph.neighbours(w);
    unfolded_[w].assign(neighbours.begin(), neighbours.end());
  }
  for (const traffic::Clique& clique : graph.cliques()) {
    for (const auto& a : clique.members) {
      for (const auto& b : clique.members) {
        if (a.worker == b.worker) continue;
        const std::int64_t pairs = static_cast<std::int64_t>(a.ranks) * b.ranks;
        unfolded_[a.worker].push_back(
            {b.worker, SaturatingMultiply(pairs, clique.bytes_per_rank_pair)});
      }
    }
  }
}

std::vector<traffic::Neighbour> NeighboursOf(const traffic::WorkerGraph& graph,
                                             WorkerIndex worker) {
  const auto edges = graph.neighbours(worker);
  std::vector<traffic::Neighbour> all(edges.begin(), edges.end());
  for (const std::uint32_t c : graph.cliques_of(worker)) {
    const traffic::Clique& clique = graph.cliques()[c];
    std::int64_t own = 0;
    for (const traffic::Seat& seat : clique.members) own = seat.worker == worker ? seat.ranks : own;
    for (const traffic::Seat& seat : clique.members) {
      if (seat.worker == worker) continue;
      const std::int64_t pairs = own * seat.ranks;
      all.push_back({seat.worker, SaturatingMultiply(pairs, clique.bytes_per_rank_pair)});
    }
  }
  return all;
}

}  // namespace weft::search
