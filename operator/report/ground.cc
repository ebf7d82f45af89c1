#include "operator/report/ground.h"

#include <algorithm>
#include <utility>

#include "operator/decide/pool_choices.h"
#include "operator/decide/predict.h"

namespace weft::report {
namespace {

using decide::ClusterFabric;
using decide::Workload;
using fabric::NodeIndex;

// Accelerators of the scale-up domain that holds the node, as far as the job may use it.
std::int64_t PerDomain(const fabric::Fabric& fabric, const Workload& workload, NodeIndex node) {
  const std::int64_t alone = fabric.accelerators(node);
  if (fabric.ScaleUpNeedsClaim() && !workload.pod.claims_compute_domain) return alone;
  if (const auto tier = fabric.nested_scale_up()) {
    return fabric.AcceleratorsIn(*tier, fabric.domains(*tier).of_node[node]);
  }
  const auto crossing = fabric.crossing_scale_up();
  std::int64_t sum = 0;
  for (NodeIndex n = 0; n < crossing.size(); ++n) {
    if (crossing[n] == crossing[node]) sum += fabric.accelerators(n);
  }
  return std::max(sum, alone);
}

void AddWorkers(const fabric::Fabric& fabric, const Workload& workload,
                const placement::PoolChoice* choice, Ground& ground) {
  const auto resource = fabric.FindResource(workload.accelerator->resource_name);
  if (!resource) return;
  for (NodeIndex n = 0; n < fabric.node_count(); ++n) {
    if (!fabric.usable(n)) continue;
    if (choice != nullptr &&
        !std::binary_search(choice->pools.begin(), choice->pools.end(), fabric.pool(n))) {
      continue;
    }
    const std::int64_t room = fabric.allocatable(n, *resource) / workload.accelerator->per_worker;
    ground.workers.insert(ground.workers.end(),
                          static_cast<std::size_t>(std::max<std::int64_t>(room, 0)), n);
  }
}

}  // namespace

std::int64_t Ground::NodesOf(std::size_t count) const {
  std::int64_t nodes = 0;
  for (std::size_t w = 0; w < std::min(count, workers.size()); ++w) {
    if (w == 0 || workers[w] != workers[w - 1]) ++nodes;
  }
  return nodes;
}

Grounds GroundsOf(const decide::Cluster& cluster, const Workload& workload) {
  Grounds out;
  for (const ClusterFabric& on : cluster.fabrics) {
    if (!workload.fabric_name->empty() && *workload.fabric_name != on.name()) continue;
    const auto choices = decide::PoolChoicesOf(*on.fabric, *workload.accelerator);
    const std::size_t count = choices ? choices->size() : 1;
    for (std::size_t c = 0; c < count; ++c) {
      Ground ground;
      ground.on = &on;
      AddWorkers(*on.fabric, workload, choices ? &(*choices)[c] : nullptr, ground);
      if (ground.workers.empty()) continue;
      auto accelerator = decide::AcceleratorOf(*on.fabric, ground.workers);
      if (!accelerator) {
        out.notes.push_back(
            {decide::Severity::kWarning, "NotPredicted", accelerator.error().message + "."});
        continue;
      }
      ground.accelerator = *accelerator;
      ground.per_domain = PerDomain(*on.fabric, workload, ground.workers.front());
      out.grounds.push_back(std::move(ground));
    }
  }
  return out;
}

}  // namespace weft::report
