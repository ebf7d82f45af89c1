// Time from a job's shape to the bytes between its workers: ComputeTraffic and WorkerGraph, and the
// sets of workers of a topology group.
#include <benchmark/benchmark.h>

#include <array>
#include <optional>

#include "operator/traffic/traffic.h"
#include "operator/traffic/worker_graph.h"
#include "operator/traffic/worker_sets.h"
#include "tests/support/models.h"

namespace weft::traffic {
namespace {

// A batch that every degree of data below divides.
Model Dense() {
  Transformer model = testing::Llama70B();
  model.global_batch_size = 65536;
  return {model, {}};
}

Parallelism DenseShape() {
  Parallelism shape;
  shape.tensor = 8;
  shape.pipeline = 4;
  shape.sharding = Sharding::kOptimizerState;
  return shape;
}

// Experts of one block sit in 64 ranks, so that their workers form cliques.
Model Experts() {
  Model model = Dense();
  model.transformer->moe = MixtureOfExperts{64, 8, 78, 2048, 1};
  return model;
}

Parallelism ExpertShape() {
  Parallelism shape = DenseShape();
  shape.tensor = 2;
  shape.expert = 64;
  shape.expert_tensor = 1;
  return shape;
}

void Run(benchmark::State& state, const std::optional<Model>& model, const Parallelism& shape) {
  const auto workers = static_cast<std::uint32_t>(state.range(0));
  const auto per_worker = static_cast<std::uint32_t>(state.range(1));
  std::size_t edges = 0;
  for (auto _ : state) {
    const auto traffic = ComputeTraffic(model, shape, workers, per_worker);
    if (!traffic) {
      state.SkipWithError(traffic.error().message.c_str());
      return;
    }
    const WorkerGraph graph(*traffic);
    edges = graph.edges().size();
    benchmark::DoNotOptimize(edges);
  }
  state.counters["edges"] = static_cast<double>(edges);
}

void BM_DenseGraph(benchmark::State& state) { Run(state, Dense(), DenseShape()); }
void BM_ExpertGraph(benchmark::State& state) { Run(state, Experts(), ExpertShape()); }
void BM_NoModelGraph(benchmark::State& state) { Run(state, std::nullopt, DenseShape()); }

void BM_GroupWorkers(benchmark::State& state) {
  const auto workers = static_cast<std::uint32_t>(state.range(0));
  const auto per_worker = static_cast<std::uint32_t>(state.range(1));
  static constexpr std::array kStage = {Axis::kTensor, Axis::kContext, Axis::kData};
  for (auto _ : state) {
    const auto sets = GroupWorkers(kStage, DenseShape(), workers, per_worker);
    if (!sets) {
      state.SkipWithError(sets.error().message.c_str());
      return;
    }
    benchmark::DoNotOptimize(sets->workers.data());
  }
}

// workers, ranks of one worker
void Sizes(benchmark::internal::Benchmark* bench) {
  bench->Args({1'024, 2})->Args({1'024, 8})->Args({16'384, 8})->Unit(benchmark::kMicrosecond);
}
BENCHMARK(BM_DenseGraph)->Apply(Sizes);
BENCHMARK(BM_ExpertGraph)->Apply(Sizes);
BENCHMARK(BM_NoModelGraph)->Apply(Sizes);
BENCHMARK(BM_GroupWorkers)->Apply(Sizes);

}  // namespace
}  // namespace weft::traffic
