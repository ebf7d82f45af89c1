#include <benchmark/benchmark.h>

#include "operator/cluster/problem.h"
#include "operator/plan/plan.h"
#include "operator/predict/predict.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"

// What a prediction adds to a plan: 1,024 workers of Llama-3 70B on the H100 of a fabric of 1,024
// or 10,000 nodes, 32 a leaf, 16 leaves a spine. A solve first, then what is predicted of its
// answer.
namespace weft::plan {
namespace {

constexpr std::uint32_t kWorkers = 1024;

testing::Scene SceneOf(std::uint32_t nodes, traffic::Sharding sharding) {
  testing::Scene scene(testing::H100Nodes(nodes));
  api::TrainingJob& job = scene.Job("llama", kWorkers);
  job.model = traffic::Model{traffic::testing::Llama70B(), {}};
  job.model->transformer->global_batch_size = 4096;
  job.parallelism.tensor = 8;
  job.parallelism.pipeline = sharding == traffic::Sharding::kNone ? 1 : 4;
  job.parallelism.sharding = sharding;
  return scene;
}

void BM_Solve(benchmark::State& state) {
  const cluster::Cluster cluster =
      SceneOf(static_cast<std::uint32_t>(state.range(0)), traffic::Sharding::kOptimizerState)
          .Build();
  const auto workloads = cluster::PendingWorkloads(cluster, cluster::Order::kFile);
  for (auto _ : state) {
    const auto problem = cluster::MakeProblem(cluster.fabrics[0], workloads->front());
    const traffic::WorkerGraph graph(problem->traffic);
    benchmark::DoNotOptimize(
        placement::Place(cluster.fabrics[0].claims, problem->request, graph, {}));
  }
}
BENCHMARK(BM_Solve)->ArgName("nodes")->Arg(1024)->Arg(10'000)->Unit(benchmark::kMicrosecond);

void Predictions(benchmark::State& state, traffic::Sharding sharding, bool fits) {
  const cluster::Cluster cluster =
      SceneOf(static_cast<std::uint32_t>(state.range(0)), sharding).Build();
  PlanOptions options;
  options.best = false;
  const auto report = Plan(cluster, options);
  const PlanEntry& entry = report->entries[0];
  const auto problem = cluster::MakeProblem(cluster.fabrics[0], entry.workload);
  for (auto _ : state) {
    const auto one = predict::Predict(cluster.fabrics[0], entry.workload, problem->traffic,
                                      entry.placed()->plan.nodes);
    if (one->prediction.fits != fits) return state.SkipWithError("another case than was meant");
    benchmark::DoNotOptimize(one);
  }
}
void BM_Predict(benchmark::State& state) {
  Predictions(state, traffic::Sharding::kOptimizerState, true);
}
// And the smallest change that would make it fit.
void BM_PredictThatItDoesNotFit(benchmark::State& state) {
  Predictions(state, traffic::Sharding::kNone, false);
}
BENCHMARK(BM_Predict)->ArgName("nodes")->Arg(1024)->Arg(10'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_PredictThatItDoesNotFit)->ArgName("nodes")->Arg(1024)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace weft::plan
