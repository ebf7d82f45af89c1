#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/traffic/worker_graph.h"

namespace weft::search {

// A job's traffic as adjacency lists, for searches of small jobs; cliques are unfolded into pairs.
// A list may contain a pair more than once: the bytes of its entries add up.
// Cost  O(edges + members squared of each clique).
class Adjacency {
 public:
  explicit Adjacency(const traffic::WorkerGraph& graph);

  std::span<const traffic::Neighbour> of(WorkerIndex worker) const {
    return unfolded_.empty() ? graph_->neighbours(worker)
                             : std::span<const traffic::Neighbour>(unfolded_[worker]);
  }

 private:
  const traffic::WorkerGraph* graph_;
  ByWorker<std::vector<traffic::Neighbour>> unfolded_;
};

// All neighbours of one worker; cliques are unfolded. May name a worker more than once.
// Cost  O(edges + members of the worker's cliques).
std::vector<traffic::Neighbour> NeighboursOf(const traffic::WorkerGraph& graph, WorkerIndex worker);

}  // namespace weft::search
