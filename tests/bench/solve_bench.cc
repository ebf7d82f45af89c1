// Solve time: traffic, search, scores and bound, with fabric and claims in memory.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"
#include "operator/placement/place.h"
#include "operator/placement/scores.h"
#include "operator/traffic/traffic.h"
#include "operator/traffic/worker_graph.h"
#include "operator/traffic/worker_grid.h"
#include "tests/support/models.h"

namespace weft {
namespace {

constexpr const char* kGPU = "nvidia.com/gpu";
constexpr std::int64_t kGPUs = 8;
constexpr std::uint32_t kNodesPerLeaf = 32;
constexpr std::uint32_t kLeavesPerSpine = 16;

struct Cluster {
  std::unique_ptr<fabric::Fabric> fabric;
  std::unique_ptr<fabric::Claims> claims;
};

std::string Padded(const char* prefix, std::uint32_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%s%06u", prefix, number);
  return text;
}

fabric::LinkSpec Link(const char* type, std::int64_t oversubscription) {
  fabric::LinkSpec link;
  link.type = type;
  link.oversubscription_percent = oversubscription;
  return link;
}

// Half of all GPUs are in use, in a pattern that jobs which came and went leave behind: of each
// three nodes about one is full, one half used, and one free.
Cluster MakeCluster(std::uint32_t count) {
  fabric::FabricSpec spec;
  spec.levels = {{"spine", "spine", fabric::Identity::kValue, Link("InfiniBandNDR", 200)},
                 {"leaf", "leaf", fabric::Identity::kValue, Link("InfiniBandNDR", 100)}};
  spec.outside = Link("InfiniBandNDR", 400);
  spec.node_link = Link("NVLink4", 100);
  std::vector<fabric::NodeFacts> nodes(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    nodes[i].name = Padded("node-", i);
    nodes[i].labels = {{"leaf", Padded("leaf-", i / kNodesPerLeaf)},
                       {"spine", Padded("spine-", i / kNodesPerLeaf / kLeavesPerSpine)}};
    nodes[i].allocatable = {
        {kGPU, kGPUs}, {"cpu", 224'000}, {"memory", 2'000'000'000'000}, {"pods", 110}};
  }
  Cluster cluster;
  auto built = fabric::Fabric::Build(spec, std::move(nodes), {});
  if (!built) {
    std::fprintf(stderr, "%s\n", built.error().message.c_str());
    std::abort();
  }
  cluster.fabric = std::make_unique<fabric::Fabric>(*std::move(built));
  cluster.claims = std::make_unique<fabric::Claims>(*cluster.fabric);
  std::uint64_t state = 1;
  for (fabric::NodeIndex n = 0; n < count; ++n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const std::uint64_t draw = (state >> 33) % 100;
    const std::int64_t used = draw < 34   ? 8
                              : draw < 67 ? 2 * static_cast<std::int64_t>(draw % 4)
                                          : 0;
    const std::int64_t half = draw >= 34 && draw < 67 && used == 0 ? 4 : used;
    if (half > 0) cluster.claims->Add(n, {{kGPU, half}, {"cpu", 8'000 * half}});
  }
  return cluster;
}

const Cluster& ClusterOf(std::uint32_t nodes) {
  static std::map<std::uint32_t, Cluster> clusters;
  auto entry = clusters.find(nodes);
  if (entry == clusters.end()) entry = clusters.emplace(nodes, MakeCluster(nodes)).first;
  return entry->second;
}

traffic::Model Llama70B() {
  traffic::Transformer model = traffic::testing::Llama70B();
  model.global_batch_size = 65536;
  return {model, {}};
}

// nodes, workers, GPUs a worker
void BM_Solve(benchmark::State& state) {
  const Cluster& cluster = ClusterOf(static_cast<std::uint32_t>(state.range(0)));
  const auto workers = static_cast<std::uint32_t>(state.range(1));
  const auto per_worker = static_cast<std::uint32_t>(state.range(2));
  traffic::Parallelism shape;
  shape.tensor = 8;
  shape.pipeline = 4;
  shape.sharding = traffic::Sharding::kOptimizerState;
  const std::optional<traffic::Model> model = Llama70B();
  placement::Request request;
  request.job = "bench/job";
  request.workers = workers;
  request.pod.requests = {{kGPU, per_worker}};
  double ratio = 0;
  for (auto _ : state) {
    const auto traffic = traffic::ComputeTraffic(model, shape, workers, per_worker);
    if (!traffic) {
      state.SkipWithError(traffic.error().message.c_str());
      return;
    }
    const traffic::WorkerGraph graph(*traffic);
    request.grid = traffic::WorkerGrid(shape, workers, per_worker);
    const placement::Placement placement = placement::Place(*cluster.claims, request, graph);
    const auto* plan = std::get_if<placement::Plan>(&placement);
    if (plan == nullptr) {
      state.SkipWithError("not placed");
      return;
    }
    const placement::PairCost pair_cost(*cluster.fabric, false);
    benchmark::DoNotOptimize(placement::Score(pair_cost, *traffic, plan->nodes));
    ratio = plan->lower_bound > 0
                ? static_cast<double>(plan->cost) / static_cast<double>(plan->lower_bound)
                : 1;
  }
  state.counters["cost_over_bound"] = ratio;
}
BENCHMARK(BM_Solve)
    ->Args({1'000, 1'024, 2})
    ->Args({10'000, 1'024, 8})
    ->Args({100'000, 1'024, 8})
    ->Args({100'000, 16'384, 8})
    ->Args({10'000, 64, 8})
    ->Args({10'000, 8, 8})
    ->Unit(benchmark::kMicrosecond);

// nodes, workers: what-ifs of a job that must be in one leaf and does not fit.
void BM_Relax(benchmark::State& state) {
  const Cluster& cluster = ClusterOf(static_cast<std::uint32_t>(state.range(0)));
  const auto workers = static_cast<std::uint32_t>(state.range(1));
  traffic::Parallelism shape;
  shape.tensor = 8;
  shape.pipeline = 4;
  const auto traffic = traffic::ComputeTraffic(Llama70B(), shape, workers, kGPUs);
  const traffic::WorkerGraph graph(*traffic);
  placement::Request request;
  request.job = "bench/job";
  request.workers = workers;
  request.pod.requests = {{kGPU, kGPUs}};
  request.grid = traffic::WorkerGrid(shape, workers, kGPUs);
  request.required = cluster.fabric->FindTier("leaf");
  request.pod.node_selector = {{"spine", "spine-000001"}};
  std::size_t found = 0;
  for (auto _ : state) {
    found = placement::FindRelaxations(*cluster.claims, request, graph).size();
  }
  state.counters["relaxations"] = static_cast<double>(found);
}
BENCHMARK(BM_Relax)
    ->Args({10'000, 64})
    ->Args({100'000, 64})
    ->Args({100'000, 1'024})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace weft
