#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "operator/cluster/build_cluster.h"
#include "operator/cluster/cluster.h"
#include "tests/support/fabric_builder.h"

// Inputs for tests of decisions, made without manifests: a fabric of tests/support/fabric_builder.h
// with jobs, Placements and pods on it.
namespace weft::testing {

inline constexpr const char* kGpu = "nvidia.com/gpu";

template <typename T>
SharedList<T> Reversed(const SharedList<T>& list) {
  SharedList<T> reversed;
  for (std::size_t i = list.size(); i-- > 0;) reversed.push_back(list.Share(i));
  return reversed;
}

struct Scene {
  api::Inputs inputs;

  // The nodes of the shape, with a Fabric object "default" of its levels.
  explicit Scene(const FabricShape& shape) {
    AddNodes(shape);
    api::Fabric fabric;
    fabric.place = "fabric.yaml: Fabric default";
    fabric.meta.key.name = "default";
    fabric.spec = MakeSpec(shape);
    inputs.fabrics.push_back(fabric);
  }

  void AddNodes(const FabricShape& shape) {
    for (fabric::NodeFacts& facts : MakeNodes(shape)) {
      api::Node node;
      node.meta.key.name = facts.name;
      node.facts = std::move(facts);
      inputs.nodes.push_back(std::move(node));
    }
  }

  api::TrainingJob& Job(const std::string& name, std::uint32_t replicas, std::uint32_t each = 8) {
    api::TrainingJob job;
    job.place = "jobs.yaml: TrainingJob ns/" + name;
    job.meta.key = {"ns", name};
    job.replicas = replicas;
    job.accelerator = {kGpu, each};
    job.pod.requests = {{kGpu, each}};
    inputs.order.push_back({true, inputs.jobs.size()});
    inputs.jobs.push_back(std::move(job));
    return inputs.jobs.Edit(inputs.jobs.size() - 1);
  }

  api::Placement& Placement(const std::string& name, std::uint32_t workers,
                            std::vector<std::string> nodes = {}) {
    api::Placement placement;
    placement.place = "placements.yaml: Placement ns/" + name;
    placement.meta.key = {"ns", name};
    placement.workers = workers;
    placement.accelerator = {kGpu, 8};
    placement.nodes = std::move(nodes);
    inputs.order.push_back({false, inputs.placements.size()});
    inputs.placements.push_back(std::move(placement));
    return inputs.placements.Edit(inputs.placements.size() - 1);
  }

  api::Pod& Pod(const std::string& name, const std::string& node,
                std::map<std::string, std::string> labels = {}) {
    api::Pod pod;
    pod.meta.key = {"ns", name};
    pod.meta.labels = std::move(labels);
    pod.node_name = node;
    pod.phase = node.empty() ? api::PodPhase::kPending : api::PodPhase::kRunning;
    pod.pod.requests = {{kGpu, 8}};
    inputs.pods.push_back(std::move(pod));
    return inputs.pods.Edit(inputs.pods.size() - 1);
  }

  Result<cluster::Cluster> TryBuild() const { return cluster::BuildCluster(inputs); }

  // Aborts where the inputs are no cluster: a mistake of the test.
  cluster::Cluster Build() const {
    Result<cluster::Cluster> cluster = TryBuild();
    if (!cluster) {
      std::fprintf(stderr, "the test's cluster: %s\n", cluster.error().message.c_str());
      std::abort();
    }
    return *std::move(cluster);
  }
};

// Two leaves of two nodes of 8 GPUs in one spine: l0 holds n0 and n1, l1 holds n2 and n3.
inline FabricShape FourNodes() { return testing::Leaves({{8, 8}, {8, 8}}); }

// Two leaves of four nodes of 8 GPUs. A100: n0, n1, n4; H100: n2, n3, n5, n6, of which n5 and n6
// are spot; n7 is H200.
inline FabricShape ThreeProducts() {
  FabricShape shape = testing::Leaves({{8, 8, 8, 8}, {8, 8, 8, 8}});
  const char* const kCapacityType = "karpenter.sh/capacity-type";
  const char* const products[] = {
      "A100-SXM4-80GB", "A100-SXM4-80GB",        "NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-80GB-HBM3",
      "A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-80GB-HBM3", "NVIDIA-H200"};
  for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
    shape.nodes[n].labels = {{"nvidia.com/gpu.product", products[n]}};
  }
  shape.nodes[5].labels[kCapacityType] = shape.nodes[6].labels[kCapacityType] = "spot";
  return shape;
}

// Nodes of 8 H100, 32 a leaf, 16 leaves a spine.
inline FabricShape H100Nodes(std::uint32_t nodes) {
  constexpr std::uint32_t kNodesPerLeaf = 32, kNodesPerSpine = 512;
  FabricShape shape;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    testing::TestNode node;
    node.name = testing::Numbered("n", n, nodes);
    node.domains = {"s" + std::to_string(n / kNodesPerSpine),
                    "l" + std::to_string(n / kNodesPerLeaf)};
    node.labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3";
    shape.nodes.push_back(std::move(node));
  }
  return shape;
}

inline std::optional<traffic::Model> MeasuredData(std::int64_t bytes_per_gpu) {
  traffic::Model model;
  model.measured = {{traffic::Axis::kData, bytes_per_gpu}};
  return model;
}

// Free GPUs by node, in the order of nodes.
inline std::vector<std::int64_t> FreeGpus(const cluster::Cluster& cluster) {
  std::vector<std::int64_t> free;
  const cluster::ClusterFabric& on = cluster.fabrics.front();
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(on.fabric->node_count())) {
    free.push_back(on.claims.free_accelerators(n));
  }
  return free;
}

}  // namespace weft::testing
