#pragma once

#include <cstdint>
#include <vector>

#include "operator/decide/cluster.h"
#include "operator/decide/workload.h"
#include "operator/outlook/accelerators.h"

namespace weft::report {

// Nodes of one Fabric and one choice of pools, as a job on the empty fabric would have them.
struct Ground {
  const decide::ClusterFabric* on = nullptr;
  outlook::Accelerator accelerator;
  // In the order of the tree, a node once for each worker that it has room for.
  std::vector<fabric::NodeIndex> workers;
  std::int64_t per_domain = 1;  // accelerators linked inside a node or a scale-up domain

  std::int64_t NodesOf(std::size_t count) const;  // of the first so many workers
};

struct Grounds {
  std::vector<Ground> grounds;
  std::vector<decide::Note> notes;  // of nodes whose accelerator nobody knows
};

// Of every Fabric, unless the workload names one, and every choice of products (pool_choices.h).
// Cost  O(nodes).
Grounds GroundsOf(const decide::Cluster& cluster, const decide::Workload& workload);

}  // namespace weft::report
