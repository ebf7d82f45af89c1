#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "operator/decide/workload.h"
#include "operator/outlook/network.h"
#include "operator/report/advise.h"
#include "operator/report/ground.h"

namespace weft::report {

// A layout on nodes of a ground, and the links that it runs over there.
struct Candidate {
  outlook::Layout layout;
  outlook::Network network;
  std::span<const fabric::NodeIndex> nodes;  // index = worker; into the ground's orders
  double seconds = 0;                        // of one step
};

// The layout on the ground's order of nodes that makes its step shortest, whether or not it fits in
// memory. Absent if the ground has too few nodes or the traffic is not defined.
std::optional<Candidate> OnNodes(const decide::Workload& workload, const Ground& ground,
                                 const outlook::Layout& layout);

// Tries layouts, and counts them.
class LayoutSearch {
 public:
  // The fastest layouts, at most `most`, that fit in memory on the first `count` accelerators of
  // the ground. Empty if none fits, or if the accelerator has no unit for the precision.
  std::vector<Candidate> Best(const decide::Workload& workload, const Ground& ground,
                              std::int64_t count, std::size_t most);

  std::int64_t tried() const { return tried_; }
  std::int64_t fitting() const { return fitting_; }

 private:
  void TryShape(const outlook::Layout& shape, const Ground& ground, std::size_t most,
                std::vector<Candidate>& best);

  std::int64_t tried_ = 0, fitting_ = 0;
  const decide::Workload* workload_ = nullptr;
};

// What would make each accelerator train on more tokens a second than with this layout: faster
// links, more memory, a larger batch, fewer accelerators; only changes that give 2 % or more.
std::vector<Lift> LiftsOf(const decide::Workload& workload, const Ground& ground,
                          const Candidate& best);

}  // namespace weft::report
