#include "operator/report/ground.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "operator/cluster/pool_choices.h"
#include "operator/predict/predict.h"

namespace weft::report {
namespace {

using cluster::ClusterFabric;
using cluster::WorkloadView;
using fabric::NodeIndex;

// Accelerators of the scale-up domain that holds the node, as far as the job may use it.
std::int64_t PerDomain(const fabric::Fabric& fabric, const WorkloadView& workload, NodeIndex node) {
  const std::int64_t alone = fabric.accelerators(node);
  if (fabric.ScaleUpNeedsClaim() && !workload.pod.claims_compute_domain) return alone;
  if (const auto tier = fabric.nested_scale_up()) {
    return fabric.AcceleratorsIn(*tier, fabric.domains(*tier).of_node[node]);
  }
  const fabric::Plane* crossing = fabric.crossing_scale_up();
  std::int64_t sum = 0;
  if (crossing == nullptr) return alone;
  for (const NodeIndex n : crossing->of_node.Indices()) {
    if (crossing->of_node[n] == crossing->of_node[node]) sum += fabric.accelerators(n);
  }
  return std::max(sum, alone);
}

// A node that the job may use, and its accelerators.
struct Room {
  NodeIndex node;
  std::int64_t accelerators;
};

void KeepLargestPool(const fabric::Fabric& fabric, std::vector<Room>& rooms) {
  std::map<fabric::PoolIndex, std::int64_t> sums;
  for (const Room& room : rooms) sums[fabric.pool(room.node)] += room.accelerators;
  const auto largest = std::max_element(
      sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::erase_if(rooms, [&](const Room& room) { return fabric.pool(room.node) != largest->first; });
}

std::vector<Room> RoomsOf(const fabric::Fabric& fabric, const WorkloadView& workload,
                          const objective::PoolChoice* choice) {
  std::vector<Room> rooms;
  const auto resource = fabric.FindResource(workload.accelerator->resource_name);
  if (!resource) return rooms;
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    if (!fabric.usable(n)) continue;
    if (choice != nullptr &&
        !std::binary_search(choice->pools.begin(), choice->pools.end(), fabric.pool(n))) {
      continue;
    }
    const std::int64_t accelerators = fabric.allocatable(n, *resource);
    if (accelerators > 0) rooms.push_back({n, accelerators});
  }
  if (choice != nullptr && choice->one_pool) KeepLargestPool(fabric, rooms);
  return rooms;
}

// The size that most nodes have; of two that are as frequent the larger.
std::int64_t UsualSize(const std::vector<Room>& rooms) {
  std::map<std::int64_t, std::int64_t> nodes;
  for (const Room& room : rooms) ++nodes[room.accelerators];
  const auto most = std::max_element(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  });
  return most == nodes.end() ? 1 : most->first;
}

WorkerSize SizeOf(const WorkloadView& workload, const std::vector<Room>& rooms) {
  const std::uint32_t written = workload.accelerator->per_worker;
  return written > 0 ? WorkerSize{written, false} : WorkerSize{UsualSize(rooms), true};
}

std::vector<NodeIndex> WorkersOf(const std::vector<Room>& rooms, const WorkerSize& worker) {
  std::vector<NodeIndex> workers;
  for (const Room& room : rooms) {
    const auto count = static_cast<std::size_t>(room.accelerators / worker.accelerators);
    workers.insert(workers.end(), count, room.node);
  }
  return workers;
}

// Of the workers in each scale-up domain that the job may use, the largest power of two.
std::vector<NodeIndex> WholeGroups(const fabric::Fabric& fabric, const WorkloadView& workload,
                                   const std::vector<NodeIndex>& workers) {
  const auto tier = fabric.nested_scale_up();
  const bool may = !fabric.ScaleUpNeedsClaim() || workload.pod.claims_compute_domain;
  if (!tier || !may) return workers;
  const fabric::ByNode<fabric::DomainIndex>& domain = fabric.domains(*tier).of_node;
  std::vector<NodeIndex> whole;
  for (auto begin = workers.begin(); begin != workers.end();) {
    const auto end = std::find_if(begin, workers.end(),
                                  [&](NodeIndex node) { return domain[node] != domain[*begin]; });
    const std::size_t most = std::bit_floor(static_cast<std::size_t>(end - begin));
    whole.insert(whole.end(), begin, begin + static_cast<std::ptrdiff_t>(most));
    begin = end;
  }
  return whole;
}

}  // namespace

std::int64_t CountNodes(std::span<const NodeIndex> workers) {
  std::int64_t nodes = 0;
  for (std::size_t w = 0; w < workers.size(); ++w) {
    if (w == 0 || workers[w] != workers[w - 1]) ++nodes;
  }
  return nodes;
}

std::string WithPlace(const cluster::Cluster& cluster, const std::string& message) {
  for (const api::Fabric& fabric : cluster.inputs->fabrics) {
    const std::string start = "Fabric " + fabric.spec.name + ": ";
    if (message.starts_with(start)) return fabric.place + ": " + message.substr(start.size());
  }
  return message;
}

Grounds GroundsOf(const cluster::Cluster& cluster, const WorkloadView& workload) {
  Grounds out;
  for (const ClusterFabric& on : cluster.fabrics) {
    if (!workload.fabric_name->empty() && *workload.fabric_name != on.name()) continue;
    const auto choices = cluster::PoolChoicesOf(*on.fabric, *workload.accelerator,
                                                cluster::SlicesOf(*workload.topology));
    const std::size_t count = choices ? choices->size() : 1;
    for (std::size_t c = 0; c < count; ++c) {
      const std::vector<Room> rooms =
          RoomsOf(*on.fabric, workload, choices ? &(*choices)[c] : nullptr);
      const WorkerSize worker = SizeOf(workload, rooms);
      const std::vector<NodeIndex> workers = WorkersOf(rooms, worker);
      if (workers.empty()) continue;
      auto accelerator =
          predict::AcceleratorOf(*on.fabric, workload.accelerator->resource_name, workers);
      if (!accelerator) {
        out.notes.push_back({cluster::Severity::kWarning, "NotPredicted",
                             WithPlace(cluster, accelerator.error().message) + "."});
        continue;
      }
      Ground ground{
          &on, *accelerator, worker, {workers}, PerDomain(*on.fabric, workload, workers.front())};
      std::vector<NodeIndex> whole = WholeGroups(*on.fabric, workload, workers);
      if (whole != workers) ground.orders.push_back(std::move(whole));
      out.grounds.push_back(std::move(ground));
    }
  }
  return out;
}

}  // namespace weft::report
