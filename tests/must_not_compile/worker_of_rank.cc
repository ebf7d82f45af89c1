#include "operator/traffic/worker_graph.h"

namespace weft::traffic {

// The edges of the worker that holds the rank, not of the worker with the rank's number.
std::size_t Edges(const WorkerGraph& graph, RankIndex rank, [[maybe_unused]] std::uint32_t each) {
#ifdef WEFT_SWAPPED
  return graph.neighbours(rank).size();
#else
  return graph.neighbours(WorkerOf(rank, each)).size();
#endif
}

}  // namespace weft::traffic
