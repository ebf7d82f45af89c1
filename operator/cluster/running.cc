#include "operator/cluster/running.h"

#include <optional>
#include <utility>

#include "operator/base/seeded_bug.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/problem.h"
#include "operator/objective/pair_cost.h"
#include "operator/objective/seating.h"
#include "operator/objective/traffic_tally.h"

namespace weft::cluster {
namespace {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

constexpr double kFemtosecondsPerMillisecond = 1e12;

// The fabric that has all the nodes; if the Placement names a fabric, only that one.
std::optional<std::pair<std::size_t, ByWorker<NodeIndex>>> FindNodes(
    const Cluster& cluster, const api::Placement& placement) {
  for (std::size_t f = 0; f < cluster.fabrics.size(); ++f) {
    const ClusterFabric& on = cluster.fabrics[f];
    if (!placement.fabric_name.empty() && placement.fabric_name != on.name()) continue;
    ByWorker<NodeIndex> nodes;
    for (const std::string& name : placement.nodes) {
      const auto node = on.fabric->FindNode(name);
      if (!node) break;
      nodes.push_back(*node);
    }
    if (nodes.size() == placement.nodes.size()) return std::pair(f, std::move(nodes));
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Running>> RunningWorkloads(const Cluster& cluster) {
  Result<std::vector<WorkloadView>> all = AllWorkloads(cluster, Mark::kInvalid);
  if (!all) return all.error();
  const PlacementPods pods(*cluster.inputs);
  std::vector<Running> running;
  for (WorkloadView& workload : *all) {
    if (Seeded(Bug::kOddHidesFigures) && workload.meta->annotations.At(api::kWaitedAnnotation)) {
      return Error{ErrorKind::kInvalid, *workload.place + ": " + api::kWaitedAnnotation};
    }
    const api::Placement* placement =
        workload.is_job ? pods.CurrentPlacement(cluster.inputs->jobs[workload.index])
                        : &cluster.inputs->placements[workload.index];
    if (placement == nullptr || placement->nodes.size() != workload.workers) continue;
    if (placement->nodes.empty()) continue;
    auto found = FindNodes(cluster, *placement);
    if (!found) continue;
    running.push_back({std::move(workload), placement, found->first, std::move(found->second)});
  }
  return running;
}

void OrderAll(api::Inputs& inputs) {
  inputs.order.clear();
  for (std::size_t i = 0; i < inputs.jobs.size(); ++i) inputs.order.push_back({true, i});
  for (std::size_t i = 0; i < inputs.placements.size(); ++i) inputs.order.push_back({false, i});
}

std::vector<DomainFlow> FlowsOf(const ClusterFabric& on, const WorkloadView& workload,
                                objective::Nodes nodes) {
  std::vector<DomainFlow> flows;
  if (!*workload.model) return flows;
  const auto problem = MakeProblem(on, workload);
  if (!problem) return flows;
  const fabric::Fabric& fabric = *on.fabric;
  const objective::PairCost pair_cost(fabric, problem->request.pod.claims_compute_domain);
  const objective::Seating seating(fabric, nodes);
  const objective::Tally tally(pair_cost, problem->traffic, seating);
  const auto bytes = tally.LeavingBytes(fabric.node_tier());
  for (Tier t{1}; t < bytes.EndIndex(); ++t) {
    const auto weight = static_cast<double>(pair_cost.TierWeight(t - 1));
    for (std::size_t seat = 0; seat < bytes[t].size(); ++seat) {
      const DomainIndex domain = seating.domains(t)[seat];
      const std::int64_t accelerators = fabric.AcceleratorsIn(t, domain);
      const double milliseconds = accelerators <= 0 ? 0
                                                    : static_cast<double>(bytes[t][seat]) * weight /
                                                          static_cast<double>(accelerators) /
                                                          kFemtosecondsPerMillisecond;
      flows.push_back({t, domain, bytes[t][seat], milliseconds});
    }
  }
  return flows;
}

std::optional<double> CostOverBest(const ClusterFabric& on, const Problem& problem,
                                   objective::Nodes nodes) {
  const traffic::WorkerGraph graph(problem.traffic);
  const objective::PairCost pair_cost(*on.fabric, problem.request.pod.claims_compute_domain);
  const Int128 cost = objective::Cost(pair_cost, graph, nodes);
  objective::Options alone;
  alone.ignore_claims = true;
  const auto plan = placement::Solve(on.claims, problem.request, graph, alone);
  if (!plan) return std::nullopt;
  if (cost <= plan->cost) return 1;  // this placement is possible on the empty fabric too
  if (plan->cost == 0) return std::nullopt;
  return static_cast<double>(cost) / static_cast<double>(plan->cost);
}

}  // namespace weft::cluster
