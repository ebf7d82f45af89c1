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

}  // namespace weft::search
