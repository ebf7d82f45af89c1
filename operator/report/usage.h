#pragma once

#include <map>
#include <string>
#include <vector>

#include "operator/cluster/cluster.h"

namespace weft::report {

// Whose accelerators, and of which kind.
struct UsageKey {
  std::string space;              // namespace
  std::string queue;              // the LocalQueue of Kueue; "" without one
  std::string resource, product;  // Pool::UnitOf
  fabric::CapacityType capacity = fabric::CapacityType::kOnDemand;

  friend auto operator<=>(const UsageKey&, const UsageKey&) = default;
};

struct Usage {
  double allocated = 0;  // held by pods, or kept for workers without one yet
  // Free on a usable node whose other accelerators the key's pods hold, so that no job of whole
  // nodes can use them. Holders of one node share them in proportion to what they hold.
  double stranded = 0;
};

// Cost  O(holdings log keys + nodes).
std::map<UsageKey, Usage> MeasureUsage(const cluster::ClusterFabric& on);

// A pod with accelerators and the queue that it is in; "" without one.
struct PodQueue {
  api::ObjectKey pod;
  std::string queue;
};
// The pods of namespaces whose pods with accelerators are in more than one queue (no queue counts
// as one). In other namespaces MeasureUsage says it.
std::vector<PodQueue> QueuesOfPods(const cluster::Cluster& cluster);

}  // namespace weft::report
