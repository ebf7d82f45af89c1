#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/decide/cluster.h"
#include "operator/decide/workload.h"
#include "operator/outlook/accelerators.h"

namespace weft::report {

// Nodes of one Fabric and one choice of pools, as a job on the empty fabric would have them.
struct Ground {
  const decide::ClusterFabric* on = nullptr;
  outlook::Accelerator accelerator;
  // Lists from whose front a job takes its workers' nodes, a node once for each worker that it has
  // room for. First all nodes in the order of the tree. Then, if that is another list, of each
  // scale-up domain the largest power of two of workers (16 of the 18 trays of an NVL72 rack):
  // groups of a power of two then lie in one domain. Never empty.
  std::vector<std::vector<fabric::NodeIndex>> orders;
  std::int64_t per_domain = 1;  // accelerators linked inside a node or a scale-up domain
};

// Number of different nodes. Precondition: equal ones follow each other.
std::int64_t CountNodes(std::span<const fabric::NodeIndex> workers);

struct Grounds {
  std::vector<Ground> grounds;
  std::vector<decide::Note> notes;  // of nodes whose accelerator nobody knows
};

// Of every Fabric, unless the workload names one, and every choice of products (pool_choices.h).
// Cost  O(nodes).
Grounds GroundsOf(const decide::Cluster& cluster, const decide::Workload& workload);

}  // namespace weft::report
