#include "operator/report/usage.h"

#include <cstdint>
#include <set>

#include "operator/report/fleet.h"

namespace weft::report {
namespace {

using cluster::ClusterFabric;
using cluster::Holder;
using cluster::Holding;

// Calls visit(resource, amount) for the accelerators among what the holding has.
template <typename Visit>
void ForAccelerators(const ClusterFabric& on, const Holding& holding, Visit visit) {
  for (const auto& [name, amount] : *holding.amounts) {
    const auto resource = on.fabric->FindResource(name);
    if (resource && on.fabric->IsAccelerator(*resource) && amount > 0) visit(*resource, amount);
  }
}

bool HasAccelerators(const ClusterFabric& on, const Holding& holding) {
  bool any = false;
  ForAccelerators(on, holding, [&any](fabric::ResourceIndex, std::int64_t) { any = true; });
  return any;
}

// Free accelerators of the node for each one that is held there; 0 unless its use is partial.
double StrandedPerHeld(const ClusterFabric& on, fabric::NodeIndex node,
                       fabric::ResourceIndex resource) {
  if (UseOf(on, node) != NodeUse::kPartial) return 0;
  const std::int64_t free = on.claims.free(node, resource);
  const std::int64_t held = on.fabric->allocatable(node, resource) - free;
  return free > 0 && held > 0 ? static_cast<double>(free) / static_cast<double>(held) : 0;
}

}  // namespace

std::map<UsageKey, Usage> MeasureUsage(const ClusterFabric& on) {
  std::map<UsageKey, Usage> usage;
  for (const Holder& holder : on.holders) {
    for (const Holding& holding : holder.holdings) {
      ForAccelerators(on, holding, [&](fabric::ResourceIndex resource, std::int64_t amount) {
        const fabric::Pool& pool = on.fabric->pools()[on.fabric->pool(holding.node)];
        const std::string& name = on.fabric->resources()[resource];
        Usage& of = usage[{holder.key.space, holder.queue, name, pool.UnitOf(name), pool.capacity}];
        const auto count = static_cast<double>(amount);
        of.allocated += count;
        of.stranded += count * StrandedPerHeld(on, holding.node, resource);
      });
    }
  }
  return usage;
}

std::vector<PodQueue> QueuesOfPods(const cluster::Cluster& cluster) {
  std::map<std::string, std::set<std::string>> queues;  // by namespace
  std::vector<PodQueue> pods;
  for (const ClusterFabric& on : cluster.fabrics) {
    for (const Holder& holder : on.holders) {
      for (const Holding& holding : holder.holdings) {
        if (!HasAccelerators(on, holding)) continue;
        queues[holder.key.space].insert(holder.queue);
        if (holding.pod != nullptr) pods.push_back({holding.pod->meta.key, holder.queue});
      }
    }
  }
  std::erase_if(pods, [&](const PodQueue& one) { return queues[one.pod.space].size() < 2; });
  return pods;
}

}  // namespace weft::report
