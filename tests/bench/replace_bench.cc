// Time to choose nodes for lost workers of a large gang, with fabric, claims and traffic in memory.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "operator/base/random.h"
#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"
#include "operator/placement/replace.h"
#include "operator/traffic/traffic.h"
#include "operator/traffic/worker_graph.h"
#include "operator/traffic/worker_grid.h"
#include "tests/support/models.h"

namespace weft {
namespace {

constexpr const char* kGPU = "nvidia.com/gpu";
constexpr std::int64_t kGPUs = 8;  // of a node
constexpr std::uint32_t kWorkers = 16'384;
constexpr std::uint32_t kNodesPerLeaf = 32, kLeavesPerSpine = 16;

std::string Padded(const char* prefix, std::uint32_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%s%06u", prefix, number);
  return text;
}

fabric::LinkSpec Link(std::int64_t oversubscription) {
  fabric::LinkSpec link;
  link.type = "InfiniBandNDR";
  link.oversubscription_percent = oversubscription;
  return link;
}

fabric::Fabric MakeFabric(std::uint32_t nodes) {
  fabric::FabricSpec spec;
  spec.levels = {{"spine", "spine", fabric::Identity::kValue, Link(200)},
                 {"leaf", "leaf", fabric::Identity::kValue, Link(100)}};
  spec.outside = Link(400);
  spec.node_link = Link(100);
  spec.node_link->type = "NVLink4";
  std::vector<fabric::NodeFacts> facts(nodes);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    facts[i].name = Padded("node-", i);
    facts[i].labels = {{"leaf", Padded("leaf-", i / kNodesPerLeaf)},
                       {"spine", Padded("spine-", i / kNodesPerLeaf / kLeavesPerSpine)}};
    facts[i].allocatable = {{kGPU, kGPUs}, {"cpu", 224'000}, {"pods", 110}};
  }
  auto built = fabric::Fabric::Build(spec, std::move(facts), {});
  if (!built) std::abort();
  return *std::move(built);
}

// A transformer of tensor 8 x pipeline 16 x data on 16,384 workers. They fill the nodes in order;
// of every `spread` nodes the last is free.
class Gang {
 public:
  Gang(std::uint32_t nodes, std::uint32_t per_worker, std::uint32_t spread)
      : fabric_(MakeFabric(nodes)),
        claims_(fabric_),
        traffic_(MakeTraffic(per_worker)),
        graph_(traffic_) {
    request_.job = "bench/job";
    request_.workers = kWorkers;
    request_.pod.requests = {{kGPU, per_worker}};
    request_.grid = traffic::WorkerGrid(Shape(), kWorkers, per_worker);
    std::uint32_t node = 0;
    while (loss_.nodes.size() < kWorkers) {
      for (std::int64_t i = 0; i < kGPUs / per_worker; ++i) {
        loss_.nodes.push_back(fabric::NodeIndex(node));
      }
      node += node % spread == spread - 2 ? 2 : 1;
    }
    request_.previous_nodes = loss_.nodes;
  }

  // Loses nodes that held so many workers: scattered ones, or neighbours.
  void Lose(std::uint32_t workers, bool together, std::uint64_t seed) {
    SplitMix64 random(seed);
    loss_.failed.clear();
    request_.excluded.clear();
    auto w = WorkerIndex::Of(random.Below(kWorkers));
    while (loss_.failed.size() < workers) {
      const fabric::NodeIndex node = loss_.nodes[w];
      auto& excluded = request_.excluded;
      if (std::find(excluded.begin(), excluded.end(), node) == excluded.end()) {
        excluded.push_back(node);
        for (const WorkerIndex each : loss_.nodes.Indices()) {
          if (loss_.nodes[each] == node) loss_.failed.push_back(each);
        }
      }
      w = WorkerIndex::Of(together ? (w.Raw() + 1) % kWorkers : random.Below(kWorkers));
    }
    std::sort(request_.excluded.begin(), request_.excluded.end());
    std::sort(loss_.failed.begin(), loss_.failed.end());
  }

  placement::ReplaceAnswer Replace() const {
    return placement::Replace(claims_, request_, graph_, loss_);
  }
  placement::Replacer Prepared() const { return {claims_, request_, graph_, loss_}; }

 private:
  static traffic::Parallelism Shape() {
    traffic::Parallelism shape;
    shape.tensor = 8;
    shape.pipeline = 16;
    shape.sharding = traffic::Sharding::kOptimizerState;
    return shape;
  }
  static traffic::Traffic MakeTraffic(std::uint32_t per_worker) {
    traffic::Transformer model = traffic::testing::Llama70B();
    model.global_batch_size = 65'536;
    auto traffic =
        traffic::ComputeTraffic(traffic::Model{model, {}}, Shape(), kWorkers, per_worker);
    if (!traffic) {
      std::fprintf(stderr, "%s\n", traffic.error().message.c_str());
      std::abort();
    }
    return *std::move(traffic);
  }

  fabric::Fabric fabric_;
  fabric::Claims claims_;
  traffic::Traffic traffic_;
  traffic::WorkerGraph graph_;
  objective::Request request_;
  placement::Loss loss_;
};

// 16,384 nodes with two workers each on half of them, or one worker a node and a spare for each 64.
Gang& GangOf(std::int64_t per_worker) {
  static Gang halves(16'384, 4, 3);
  static Gang whole(16'656, 8, 64);
  return per_worker == 4 ? halves : whole;
}

// GPUs a worker, lost workers, whether on neighbouring nodes. `replace_us`: all of Replace; the
// time that is shown is that of the search alone, with the instance in memory.
void BM_Replace(benchmark::State& state) {
  Gang& gang = GangOf(state.range(0));
  std::uint64_t seed = 0;
  double exact = 0, moved = 0;
  for (auto _ : state) {
    state.PauseTiming();
    gang.Lose(static_cast<std::uint32_t>(state.range(1)), state.range(2) != 0, ++seed);
    const placement::Replacer prepared = gang.Prepared();
    state.ResumeTiming();
    const placement::ReplaceAnswer answer = prepared.Run();
    const auto* replaced = std::get_if<placement::Replaced>(&answer);
    if (replaced == nullptr) return state.SkipWithError("not replaced");
    exact += replaced->exact ? 1 : 0;
    moved += static_cast<double>(replaced->moved.size());
  }
  state.counters["exact"] = exact / static_cast<double>(state.iterations());
  state.counters["moved"] = moved / static_cast<double>(state.iterations());
}

void BM_ReplaceFromClaims(benchmark::State& state) {
  Gang& gang = GangOf(state.range(0));
  std::uint64_t seed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    gang.Lose(static_cast<std::uint32_t>(state.range(1)), state.range(2) != 0, ++seed);
    state.ResumeTiming();
    benchmark::DoNotOptimize(gang.Replace());
  }
}

void Losses(benchmark::internal::Benchmark* bench) {
  for (const int per_worker : {4, 8}) {
    bench->Args({per_worker, 8, 0})->Args({per_worker, 8, 1})->Args({per_worker, 32, 1});
  }
  bench->Iterations(50)->Unit(benchmark::kMicrosecond);
}
BENCHMARK(BM_Replace)->Apply(Losses);
BENCHMARK(BM_ReplaceFromClaims)->Apply(Losses);

}  // namespace
}  // namespace weft
