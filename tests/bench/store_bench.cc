// The operator's copy of a large cluster while it changes: what a node costs that comes or fails
// beside the pods of many jobs, and what a change costs while somebody reads everything.
#include <benchmark/benchmark.h>

#include <string>

#include "operator/cluster/build_cluster.h"
#include "operator/cluster/cluster.h"
#include "operator/watch/fabric_cache.h"
#include "operator/watch/store.h"

namespace weft::controllers {
namespace {

constexpr int kPodsOfAJob = 64, kPodsOnANode = 1;

std::string Name(const char* kind, int number) { return kind + std::to_string(number); }

api::Node NodeOf(int number, const char* ready) {
  api::Node node;
  node.meta.key.name = node.facts.name = Name("node-", number);
  node.meta.uid = node.facts.name;
  node.facts.conditions = {{"Ready", ready}};
  return node;
}

api::Pod PodOf(int number) {
  const std::string job = Name("job-", number / kPodsOfAJob);
  api::Pod pod;
  pod.meta.key = {"team", job + "-1-" + std::to_string(number)};
  pod.meta.uid = Name("pod-", number);
  pod.meta.resource_version = std::to_string(number + 1);
  pod.meta.owners = {{"weft.dev/v1alpha1", "TrainingJob", job, job, true}};
  pod.node_name = Name("node-", number / kPodsOnANode);
  pod.phase = api::PodPhase::kRunning;
  return pod;
}

watch::Store& Filled(watch::Store& store, int pods) {
  for (int i = 0; i < pods; ++i) store.Put(PodOf(i));
  return store;
}

// The first list of Nodes behind that of Pods; the argument is how many pods there are.
void BM_FirstNodes(benchmark::State& state) {
  const int pods = static_cast<int>(state.range(0));
  watch::Store store([] { return UnixSeconds{0}; });
  Filled(store, pods);
  int number = 0;
  for (auto _ : state) store.Put(NodeOf(number++, "True"));
}
BENCHMARK(BM_FirstNodes)->Arg(2'000)->Arg(8'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

// Nodes that become Ready and not Ready in turn, each with a pod of a job.
void BM_NodeHealth(benchmark::State& state) {
  const int pods = static_cast<int>(state.range(0));
  watch::Store store([] { return UnixSeconds{0}; });
  Filled(store, pods);
  for (int i = 0; i < 1'000; ++i) store.Put(NodeOf(i, "True"));
  int number = 0;
  for (auto _ : state) {
    store.Put(NodeOf(number % 1'000, number / 1'000 % 2 == 0 ? "False" : "True"));
    ++number;
  }
}
BENCHMARK(BM_NodeHealth)->Arg(2'000)->Arg(8'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

// What a decision reads of everything.
void BM_Look(benchmark::State& state) {
  watch::Store store([] { return UnixSeconds{0}; });
  Filled(store, static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(store.TakeSnapshot());
}
BENCHMARK(BM_Look)->Arg(2'000)->Arg(8'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

// What a plan reads before it chooses: everything, and who holds which node. Half of the nodes are
// in use.
void BM_Cluster(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  watch::Store store([] { return UnixSeconds{0}; });
  for (int i = 0; i < nodes; ++i) {
    api::Node node = NodeOf(i, "True");
    node.facts.labels = {{"leaf", Name("leaf-", i / 32)}};
    node.facts.allocatable = {{"nvidia.com/gpu", 8}, {"cpu", 224'000}, {"pods", 110}};
    store.Put(std::move(node));
  }
  for (int i = 0; i < nodes / 2; ++i) {
    api::Pod pod = PodOf(i);
    pod.pod.requests = {{"nvidia.com/gpu", 8}, {"cpu", 64'000}};
    pod.meta.labels = {{"weft.dev/job-name", Name("job-", i / kPodsOfAJob)},
                       {"weft.dev/worker-index", std::to_string(i % kPodsOfAJob)},
                       {"app", "train"}};
    store.Put(std::move(pod));
  }
  api::Fabric fabric;
  fabric.meta.key.name = fabric.meta.uid = "default";
  fabric.spec.levels = {{"leaf", "leaf", fabric::Identity::kValue, {}}};
  store.Put(std::move(fabric));
  watch::FabricCache cache;
  for (auto _ : state) {
    watch::Store::Snapshot snapshot = store.TakeSnapshot();
    const auto fabrics = cache.Of(snapshot);
    benchmark::DoNotOptimize(cluster::BuildCluster(std::move(snapshot.inputs), *fabrics));
  }
}
BENCHMARK(BM_Cluster)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft::controllers
