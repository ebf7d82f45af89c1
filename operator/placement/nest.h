#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/placement/instance.h"

namespace weft::placement {

// Domains that nest, narrowest first, and what a byte between two domains of each costs at least,
// beyond what it costs at the narrower ones. `of_node` null: every node is a domain.
struct Level {
  fabric::Tier tier = 0;
  std::int64_t step = 0;
  const std::vector<fabric::DomainIndex>* of_node = nullptr;
  fabric::DomainIndex domains = 0;

  fabric::DomainIndex Of(fabric::NodeIndex n) const {
    return of_node == nullptr ? n : (*of_node)[n];
  }
};
using Nest = std::vector<Level>;

// A run of nodes that may hold the whole job.
struct Run {
  fabric::NodeIndex begin = 0, end = 0;
};

// How workers are counted: in whole units of so many, or in blocks of which the last may be filled
// in part (so as many blocks as there are workers / size, or more, are in use).
struct Grain {
  std::uint32_t size = 1;
  bool whole = true;
};

// What units that stand whole in domains of the nest's narrowest level cost at least between the
// domains of all levels: result[k] for k units, as far as they fit; of blocks the last entry is for
// as many or more. `leaving[k]`: least bytes that leave a set of k units; the last entry is for all
// of them.
//
// How: bottom up, for every domain and every number of units in it, the least sum over the domains
// inside; so one choice of numbers serves all levels. Each pair counts from both sides, hence half.
//
// Cost  O(units^2 x log domains) or less; empty where that is more than `most_steps`.
std::vector<double> LeastOverNest(const Instance& instance, std::span<const Level> nest, Run run,
                                  Grain grain, std::span<const double> leaving,
                                  std::uint64_t most_steps);

}  // namespace weft::placement
