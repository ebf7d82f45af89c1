#include <benchmark/benchmark.h>

#include "operator/rules/node_filter.h"

// How long counting the free slots of a whole fabric takes, per node: the part of every solve that
// looks at all nodes. Half of the nodes are full, a quarter half used, as in a busy cluster; all
// carry the taint of GPU nodes, which the job tolerates.
namespace weft::rules {
namespace {

fabric::Fabric MakeFabric(int nodes) {
  std::vector<fabric::NodeFacts> facts;
  for (int n = 0; n < nodes; ++n) {
    fabric::NodeFacts node;
    node.name = "gpu-" + std::to_string(n);
    node.labels = {{"leaf", std::to_string(n / 32)}, {"pool", "train"}};
    node.conditions = {{"Ready", "True"}};
    node.taints = {{"nvidia.com/gpu", "present", "NoSchedule"}};
    node.allocatable = {{"cpu", 200'000},
                        {"ephemeral-storage", 7'000'000'000'000},
                        {"hugepages-1Gi", 0},
                        {"hugepages-2Mi", 0},
                        {"memory", 2'000'000'000'000},
                        {"nvidia.com/gpu", 8},
                        {"pods", 110}};
    facts.push_back(std::move(node));
  }
  fabric::FabricSpec spec;
  fabric::LevelSpec leaf;
  leaf.name = leaf.label_key = "leaf";
  spec.levels.push_back(leaf);
  return *fabric::Fabric::Build(std::move(spec), std::move(facts), {});
}

void BM_CountSlots(benchmark::State& state) {
  const fabric::Fabric fabric = MakeFabric(static_cast<int>(state.range(0)));
  fabric::Claims claims(fabric);
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(fabric.node_count())) {
    // Spread by a fixed multiplier, so that no run of nodes is alike.
    const std::uint32_t draw = n.Raw() * 2654435769U >> 30;
    if (draw < 2) claims.Add(n, {{"nvidia.com/gpu", 8}, {"cpu", 64'000}});
    if (draw == 2) claims.Add(n, {{"nvidia.com/gpu", 4}, {"cpu", 32'000}});
  }
  const std::int64_t gpus = state.range(1);
  PodRequirements pod;
  pod.requests = {
      {"nvidia.com/gpu", gpus}, {"cpu", gpus * 10'000}, {"memory", gpus * 100'000'000'000}};
  pod.tolerations = {{"nvidia.com/gpu", "Exists", "", "NoSchedule"}};
  if (state.range(2) != 0) pod.node_selector = {{"pool", "train"}};
  SlotQuery query;
  query.pod = &pod;
  query.cap = 1024;
  fabric::ByNode<std::uint32_t> slots;
  for (auto _ : state) {
    CountSlots(claims, query, slots);
    benchmark::DoNotOptimize(slots.data());
  }
  using benchmark::Counter;
  state.counters["per_node"] = Counter(static_cast<double>(state.range(0)),
                                       Counter::kIsIterationInvariantRate | Counter::kInvert);
}
BENCHMARK(BM_CountSlots)
    ->ArgNames({"nodes", "gpus", "selector"})
    ->ArgsProduct({{1'000, 10'000, 100'000}, {2, 8}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace weft::rules
