#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/union_find.h"
#include "operator/objective/instance.h"

namespace weft::search {

inline constexpr WorkerIndex kNoWorker{~0U};

// One digit of the job's grid, as lines of workers.
//   strand   the workers of one line in the order of their traffic: a ring or a path. In an
//            all-to-all the order means nothing.
//   cluster  workers that heavier digits join, such as the members of an expert group
class Strands {
 public:
  static constexpr std::uint32_t kNone = ~0U;

  bool has_strand(WorkerIndex worker) const { return strand_of_[worker] != kNone; }
  // The worker `steps` steps further along the strand; kNoWorker past its end, or without a strand.
  WorkerIndex Along(WorkerIndex worker, std::int64_t steps) const;
  // Steps from one worker to another of the same strand, in direction 1 or -1; 0 if they are in
  // different strands, or the other lies in the other direction.
  std::int64_t StepsTo(WorkerIndex from, WorkerIndex to, int direction) const;

  std::uint32_t largest_cluster() const { return largest_cluster_; }
  std::uint32_t cluster_of(WorkerIndex worker) const { return cluster_of_[worker]; }
  std::span<const WorkerIndex> cluster(std::uint32_t index) const { return clusters_[index]; }
  // The worker's index in its cluster.
  std::uint32_t in_cluster(WorkerIndex worker) const { return in_cluster_[worker]; }

 private:
  friend std::vector<Strands> StrandsOf(const objective::Instance& instance,
                                        std::span<const traffic::Edge> edges);
  struct Strand {
    std::vector<WorkerIndex> workers;
    bool ring = false;
  };

  void Link(std::span<const traffic::Edge> edges);
  void Follow(const ByWorker<std::array<WorkerIndex, 2>>& next, WorkerIndex from, bool ring);
  void Join(std::uint32_t workers, UnionFind& joined);

  std::vector<Strand> strands_;
  ByWorker<std::uint32_t> strand_of_, at_;
  ByWorker<std::uint32_t> cluster_of_, in_cluster_;
  std::vector<std::vector<WorkerIndex>> clusters_;
  std::uint32_t largest_cluster_ = 1;
};

// The strands of every digit with traffic, the digit with the most bytes per pair first. A job
// without a regular grid is one digit. `edges`: the traffic between workers.
// Cost  O(edges x digits + workers x digits).
std::vector<Strands> StrandsOf(const objective::Instance& instance,
                               std::span<const traffic::Edge> edges);

}  // namespace weft::search
