#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "operator/cluster/workload.h"
#include "operator/outlook/network.h"
#include "operator/report/advice.h"
#include "operator/report/ground.h"

namespace weft::report {

// A layout on nodes of a ground, and the links that it runs over there.
struct CandidateLayout {
  outlook::Layout layout;
  outlook::Network network;
  objective::Nodes nodes;  // into the ground's orders
  double seconds = 0;      // of one step
  double bytes = 0;        // of memory on the fullest GPU
};

// Steps that differ by less are equally fast for a choice: of the layouts within this share of the
// shortest step, the one with most memory left comes first. Predictions are no more exact than
// that, and a GPU that is nearly full may fail.
inline constexpr double kEquallyFast = 0.01;

// The best few of the candidates that it is given: first the one that takes least memory of those
// that are equally fast as the fastest, then the others by their steps.
// Cost  O(most) for each candidate.
class Ranking {
 public:
  explicit Ranking(std::size_t most) : most_(most) {}

  // Whether a candidate with these figures could be among the best.
  bool Wants(double seconds, double bytes) const;
  void Add(const CandidateLayout& one);
  std::vector<CandidateLayout> Take();

 private:
  std::size_t most_;
  std::vector<CandidateLayout> fastest_;  // at most most_, by seconds
  // Equally fast as the fastest so far, by seconds; each takes less memory than those before it.
  std::vector<CandidateLayout> roomy_;
};

// The layout on the ground's order of nodes that makes its step shortest, whether or not it fits in
// memory. Absent if the ground has too few nodes or the traffic is not defined.
std::optional<CandidateLayout> OnNodes(const cluster::WorkloadView& workload, const Ground& ground,
                                       const outlook::Layout& layout);

// Tries layouts, and counts them.
class LayoutSearch {
 public:
  // The best layouts (Ranking), at most `most`, that fit in memory on the first `count`
  // accelerators of the ground. Empty if none fits, or if the accelerator has no unit for the
  // precision.
  std::vector<CandidateLayout> Best(const cluster::WorkloadView& workload, const Ground& ground,
                                    std::int64_t count, std::size_t most);

  std::int64_t tried() const { return tried_; }
  std::int64_t fitting() const { return fitting_; }

 private:
  void TryShape(const outlook::Layout& shape, const Ground& ground, Ranking& best);

  std::int64_t tried_ = 0, fitting_ = 0;
  const cluster::WorkloadView* workload_ = nullptr;
};

// What would make each accelerator train on more tokens a second than with this layout: faster
// links, more memory, a larger batch, fewer accelerators; only changes that give 2 % or more.
std::vector<Lift> LiftsOf(const cluster::WorkloadView& workload, const Ground& ground,
                          const CandidateLayout& best);

}  // namespace weft::report
