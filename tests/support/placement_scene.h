#pragma once

#include <span>
#include <string>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/traffic/worker_sets.h"
#include "tests/support/fabric_builder.h"

namespace weft::testing {

// A job on a cluster: what an Instance is prepared from. Without `bytes` one ring over all ranks.
struct PlacementScene {
  PlacementScene(const FabricShape& shape, std::uint32_t workers, std::uint32_t gpus_each,
                 std::vector<traffic::MeasuredAxis> bytes = {},
                 const traffic::Parallelism& parallelism = {})
      : cluster(MakeCluster(shape)),
        traffic(
            *traffic::ComputeTraffic(ModelOf(std::move(bytes)), parallelism, workers, gpus_each)),
        graph(traffic) {
    request.job = "test/job";
    request.workers = workers;
    request.pod.requests = {{shape.accelerator, gpus_each}};
    if (const auto* ring = traffic::LargestRing(traffic)) request.ring = *ring;
  }

  static std::optional<traffic::Model> ModelOf(std::vector<traffic::MeasuredAxis> bytes) {
    if (bytes.empty()) return std::nullopt;
    return traffic::Model{std::nullopt, std::move(bytes)};
  }

  // Reads the request: prepared anew by each call, and outlived by the scene.
  objective::Instance Prepare(const objective::Options& options = {}) const {
    return {cluster.claims, request, graph, options};
  }
  fabric::Tier tier(const std::string& name) const {
    return cluster.fabric->FindTier(name).value();
  }
  fabric::DomainIndex DomainOf(const std::string& level, const std::string& node) const {
    return cluster.fabric->domains(tier(level)).of_node[cluster.node(node)];
  }
  // "n0 n0 n1": the node of each worker.
  std::string Show(std::span<const fabric::NodeIndex> nodes) const {
    std::string text;
    for (const fabric::NodeIndex n : nodes) {
      text += (text.empty() ? "" : " ") +
              (n == objective::kUnplaced ? "-" : cluster.fabric->node(n).name);
    }
    return text;
  }
  ByWorker<fabric::NodeIndex> At(const std::vector<std::string>& names) const {
    ByWorker<fabric::NodeIndex> nodes;
    for (const std::string& name : names) nodes.push_back(cluster.node(name));
    return nodes;
  }

  Cluster cluster;
  objective::Request request;
  traffic::Traffic traffic;
  traffic::WorkerGraph graph;
};

// Sets of workers, as one of a job's topology.groups has them.
inline traffic::WorkerSets WorkerSetsOf(const std::vector<std::vector<std::uint32_t>>& sets) {
  traffic::WorkerSets out;
  for (const auto& set : sets) {
    for (const std::uint32_t worker : set) out.workers.emplace_back(worker);
    out.begin.push_back(static_cast<std::uint32_t>(out.workers.size()));
  }
  return out;
}

}  // namespace weft::testing
