#pragma once

#include <cstdint>

#include "tests/support/random_instance.h"

namespace weft::quality {

struct SmallCluster {
  std::uint32_t nodes = 0;
  // false: leaves of equal size, a third of the nodes full, a third used in part, a third free.
  // true: leaves and spines of any size, 0 to 8 free GPUs on each node, and often scale-up domains
  // of a few nodes, some of which cross the leaves.
  bool irregular = false;
};

// A half-full cluster and a job of 4 to 16 workers with random axes, and sometimes levels and
// groups. It fits by its number of slots; a group's required level may still make it unplaceable.
// The same seed gives the same problem everywhere.
testing::RandomInstance MakeSmallInstance(const SmallCluster& cluster, std::uint64_t seed);

}  // namespace weft::quality
