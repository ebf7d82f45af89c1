#include <benchmark/benchmark.h>

#include "operator/report/advise.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"

// How long `weft advise` takes to try all layouts of Llama-3 70B, and of a model with experts, on
// 1,024 and 16,384 H100, nodes of eight, 32 a leaf, 16 leaves a spine.
namespace weft::report {
namespace {

constexpr std::uint32_t kPerNode = 8;

cluster::Cluster ClusterOf(std::uint32_t gpus, bool experts) {
  const std::uint32_t nodes = gpus / kPerNode;
  testing::Scene scene(testing::H100Nodes(nodes));
  api::TrainingJob& job = scene.Job("llama", nodes);
  job.model = traffic::Model{traffic::testing::Llama70B(), {}};
  job.model->transformer->global_batch_size = 16'384;
  if (experts) job.model->transformer->moe = traffic::MixtureOfExperts{64, 4, 80, 1792, 0};
  return scene.Build();
}

void BM_Advise(benchmark::State& state) {
  const cluster::Cluster cluster =
      ClusterOf(static_cast<std::uint32_t>(state.range(0)), state.range(1) != 0);
  std::int64_t tried = 0, fitting = 0;
  for (auto _ : state) {
    const auto advice = Advise(cluster, {});
    if (!advice || advice->layouts.empty()) return state.SkipWithError("no advice");
    tried = advice->tried;
    fitting = advice->fitting;
  }
  state.counters["tried"] = static_cast<double>(tried);
  state.counters["fitting"] = static_cast<double>(fitting);
}
BENCHMARK(BM_Advise)
    ->ArgNames({"gpus", "experts"})
    ->Args({1'024, 0})
    ->Args({1'024, 1})
    ->Args({16'384, 0})
    ->Args({16'384, 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft::report
