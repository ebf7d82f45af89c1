// What a scrape and the live map cost on a full fleet: 10,000 nodes of eight GPUs and 52 jobs of
// 1,024 workers, which make more than 50,000 series.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "operator/base/timestamp.h"
#include "operator/cluster/build_cluster.h"
#include "operator/cluster/cluster.h"
#include "operator/cluster/running.h"
#include "operator/controllers/fleet_collector.h"
#include "operator/render/live_map.h"
#include "operator/render/map_html.h"
#include "operator/watch/fabric_cache.h"
#include "operator/watch/store.h"
#include "tests/support/models.h"

namespace weft {
namespace {

constexpr const char* kGPU = "nvidia.com/gpu";
constexpr std::int64_t kGPUs = 8;
constexpr std::uint32_t kNodeCount = 10'000, kNodesPerLeaf = 32, kLeavesPerSpine = 16;
constexpr std::uint32_t kJobCount = 52, kWorkers = 1024;
constexpr UnixSeconds kNow = 1'800'000'000;

fabric::LinkSpec Link(const char* type) {
  fabric::LinkSpec link;
  link.type = type;
  return link;
}

traffic::Model Llama70B() {
  traffic::Transformer model = traffic::testing::Llama70B();
  model.global_batch_size = 65536;
  return {model, {}};
}

class Fleet {
 public:
  Fleet() {
    api::Fabric fabric;
    fabric.meta = Meta("", "default");
    fabric.spec.levels = {{"spine", "spine", fabric::Identity::kValue, Link("InfiniBandNDR")},
                          {"leaf", "leaf", fabric::Identity::kValue, Link("InfiniBandNDR")}};
    fabric.spec.outside = Link("InfiniBandNDR");
    fabric.spec.node_link = Link("NVLink4");
    store_.Put(std::move(fabric));
    for (std::uint32_t n = 0; n < kNodeCount; ++n) PutNode(n);
    for (std::uint32_t j = 0; j < kJobCount; ++j) PutJob(j);
  }

  const watch::Store& store() const { return store_; }

 private:
  api::ObjectMeta Meta(const std::string& space, const std::string& name) {
    api::ObjectMeta meta;
    meta.key = {space, name};
    meta.uid = name + "-uid";
    meta.resource_version = std::to_string(++versions_);
    meta.creation_timestamp = FormatTime(kNow - 3600);
    return meta;
  }

  void PutNode(std::uint32_t n) {
    api::Node node;
    node.facts.name = "node-" + std::to_string(n);
    node.meta = Meta("", node.facts.name);
    node.facts.labels = {{"leaf", "leaf-" + std::to_string(n / kNodesPerLeaf)},
                         {"spine", "spine-" + std::to_string(n / kNodesPerLeaf / kLeavesPerSpine)}};
    node.facts.allocatable = {
        {kGPU, kGPUs}, {"cpu", 224'000}, {"memory", 2'000'000'000'000}, {"pods", 110}};
    store_.Put(std::move(node));
  }

  // A GPU a worker, node after node.
  void PutJob(std::uint32_t number) {
    api::TrainingJob job;
    job.meta = Meta("team-a", "job-" + std::to_string(number));
    job.replicas = kWorkers;
    job.accelerator = {kGPU, 1};
    job.pod.requests = {{kGPU, 1}};
    job.model = Llama70B();
    job.parallelism.tensor = 8;
    job.parallelism.pipeline = 4;
    job.attempt = 1;
    job.placement_name = job.meta.key.name + "-1";
    job.conditions = {{"Placed", "True", "Placed", "", FormatTime(kNow - 1800)}};
    api::Placement placement;
    placement.meta = Meta("team-a", job.placement_name);
    placement.meta.owners = {
        {"weft.dev/v1alpha1", "TrainingJob", job.meta.key.name, job.meta.uid, true}};
    placement.workers = kWorkers;
    placement.accelerator = job.accelerator;
    placement.model = job.model;
    placement.parallelism = job.parallelism;
    for (std::uint32_t w = 0; w < kWorkers; ++w) {
      placement.nodes.push_back("node-" + std::to_string((number * kWorkers + w) / kGPUs));
    }
    store_.Put(std::move(placement));
    store_.Put(std::move(job));
  }

  watch::Store store_{[] { return kNow; }};
  int versions_ = 0;
};

const Fleet& TheFleet() {
  static const Fleet fleet;
  return fleet;
}

// One scrape after a change of the cluster, with nothing kept of the one before but traffic.
void BM_Scrape(benchmark::State& state) {
  watch::FabricCache cache;
  double clock = 0;
  controllers::FleetCollector::Options options;
  options.now = [] { return kNow; };
  options.seconds = [&] { return clock; };
  options.least_seconds_between = 0;
  controllers::FleetCollector collector(TheFleet().store(), cache, options);
  std::size_t series = 0, bytes = 0;
  for (auto _ : state) {
    clock += 3600;
    collector.OnChange();
    const auto figures = collector.Collect();
    series = figures->series, bytes = figures->text.size();
  }
  if (series < 50'000) state.SkipWithError("too few series");
  state.counters["series"] = static_cast<double>(series);
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
}
BENCHMARK(BM_Scrape)->Unit(benchmark::kMillisecond);

void BM_LiveMap(benchmark::State& state) {
  watch::FabricCache cache;
  std::size_t bytes = 0;
  for (auto _ : state) {
    watch::Store::Snapshot snapshot = TheFleet().store().TakeSnapshot();
    cluster::OrderAll(snapshot.inputs);
    const auto fabrics = cache.Of(snapshot);
    const cluster::Cluster cluster = cluster::BuildCluster(std::move(snapshot.inputs), *fabrics);
    const auto maps = render::BuildLiveMaps(cluster);
    std::vector<const render::MapInput*> inputs;
    for (const render::LiveMap& map : maps) inputs.push_back(&map.input);
    bytes = render::LiveMapHtml(inputs, "now", 2).size();
  }
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
}
BENCHMARK(BM_LiveMap)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft
