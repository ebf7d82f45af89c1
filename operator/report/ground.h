#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "operator/cluster/cluster.h"
#include "operator/cluster/workload.h"
#include "operator/outlook/accelerators.h"

namespace weft::report {

// How a job's accelerators are divided into workers: by the job's spec, or for a bare model into
// whole nodes, or one worker on a part of a node.
struct WorkerSize {
  std::int64_t accelerators = 1;
  bool bare = false;

  // Accelerators of each worker, if the job has so many. Precondition: Divides(count).
  std::uint32_t Of(std::int64_t count) const {
    return static_cast<std::uint32_t>(bare ? std::min(count, accelerators) : accelerators);
  }
  bool Divides(std::int64_t count) const {
    return count > 0 && (count % accelerators == 0 || (bare && count < accelerators));
  }
};

// Nodes of one Fabric and one choice of pools, as a job on the empty fabric would have them.
struct Ground {
  const cluster::ClusterFabric* on = nullptr;
  outlook::Accelerator accelerator;
  WorkerSize worker;
  // Lists of nodes; the workers of a job get the first nodes of a list. A node is listed once for
  // each worker that it has room for. The first list has all nodes in the order of the tree. A
  // second one, if it differs, takes from each scale-up domain only the largest power of two of
  // workers (16 of the 18 trays of an NVL72 rack), so that a group of a power of two is in one
  // domain. Never empty.
  std::vector<std::vector<fabric::NodeIndex>> orders;
  std::int64_t per_domain = 1;  // accelerators linked inside a node or a scale-up domain
};

// Number of different nodes. Precondition: equal ones follow each other.
std::int64_t CountNodes(std::span<const fabric::NodeIndex> workers);

struct Grounds {
  std::vector<Ground> grounds;
  std::vector<cluster::Note> notes;  // about nodes with an unknown accelerator
};

// A message that starts with "Fabric x: " with the place of the Fabric's manifest instead.
std::string WithPlace(const cluster::Cluster& cluster, const std::string& message);

// The grounds of every Fabric, or of the one that the workload names, for every choice of products
// (pool_choices.h). The whole nodes of a bare model are those of the size that most nodes have.
// Cost  O(nodes).
Grounds GroundsOf(const cluster::Cluster& cluster, const cluster::WorkloadView& workload);

}  // namespace weft::report
