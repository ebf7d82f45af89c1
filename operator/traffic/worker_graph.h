#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "operator/traffic/traffic.h"

namespace weft::traffic {

// T{a,b}: bytes between two ends a < b, both directions added. The ends are workers, or sets of them
// (objective/units.h).
template <typename End>
struct EdgeBetween {
  End a{}, b{};
  std::int64_t bytes = 0;
};
using Edge = EdgeBetween<WorkerIndex>;

struct Neighbour {
  WorkerIndex worker;
  std::int64_t bytes = 0;
};

// Workers that all exchange bytes: T{i,j} += ranks_i * ranks_j * bytes_per_rank_pair.
struct Clique {
  std::vector<Seat> members;             // ascending by worker, each once
  std::int64_t bytes_per_rank_pair = 0;  // both directions
};

// The sum of all traffic between the workers of a job. Its size grows with the number of ranks, not
// with workers squared: rings, stages and small cliques are edges; a clique that would need more
// edges than it has members is stored as a clique.
//
// Invariants  edges ascend by (a, b), each pair once, bytes > 0; traffic inside a worker is left
//             out; adjacency lists every edge at both ends, ascending by worker.
// Cost        O(seats of all families), at most O(ranks x axes).
class WorkerGraph {
 public:
  explicit WorkerGraph(const Traffic& traffic);
  // The traffic of one axis only.
  WorkerGraph(const Traffic& traffic, Axis axis);

  std::uint32_t workers() const { return workers_; }
  std::span<const Edge> edges() const { return edges_; }
  std::span<const Neighbour> neighbours(WorkerIndex worker) const {
    return std::span(neighbours_).subspan(begin_[worker], begin_[worker + 1] - begin_[worker]);
  }
  std::span<const Clique> cliques() const { return cliques_; }
  // Indices into cliques() of the cliques that contain the worker.
  std::span<const std::uint32_t> cliques_of(WorkerIndex worker) const {
    return std::span(clique_index_)
        .subspan(clique_begin_[worker], clique_begin_[worker + 1] - clique_begin_[worker]);
  }

 private:
  void Build(const Traffic& traffic, std::optional<Axis> only);
  void Add(const GroupFamily& family, const SeatedGroups& seated, std::vector<Edge>& raw);
  // Adds an all-to-all with `pair` bytes between any two ranks.
  void AddClique(std::span<const Seat> seats, std::int64_t pair, std::vector<Edge>& raw);
  void Finish();  // adjacency and cliques by worker

  std::uint32_t workers_ = 0;
  std::vector<Edge> edges_;
  ByWorker<std::uint32_t> begin_;  // workers + 1 entries
  std::vector<Neighbour> neighbours_;
  std::vector<Clique> cliques_;
  ByWorker<std::uint32_t> clique_begin_;  // workers + 1 entries
  std::vector<std::uint32_t> clique_index_;
};

}  // namespace weft::traffic
