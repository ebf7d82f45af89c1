// Solve time: traffic, search, scores and bound, with fabric and claims in memory.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/random.h"
#include "operator/designs/reference_design.h"
#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"
#include "operator/objective/scores.h"
#include "operator/placement/place.h"
#include "operator/placement/relax.h"
#include "operator/traffic/traffic.h"
#include "operator/traffic/worker_graph.h"
#include "operator/traffic/worker_grid.h"
#include "tests/support/models.h"

namespace weft {
namespace {

constexpr const char* kGPU = "nvidia.com/gpu";
constexpr const char* kTPU = "google.com/tpu";
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
std::unique_ptr<fabric::Claims> HalfFull(const fabric::Fabric& fabric, std::uint64_t seed) {
  auto claims = std::make_unique<fabric::Claims>(fabric);
  std::uint64_t state = seed;
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(fabric.node_count())) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const std::uint64_t draw = (state >> 33) % 100;
    const std::int64_t used = draw < 34   ? 8
                              : draw < 67 ? 2 * static_cast<std::int64_t>(draw % 4)
                                          : 0;
    const std::int64_t half = draw >= 34 && draw < 67 && used == 0 ? 4 : used;
    if (half > 0) claims->Add(n, {{kGPU, half}, {"cpu", 8'000 * half}});
  }
  return claims;
}

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
  cluster.claims = HalfFull(*cluster.fabric, 1);
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

// A job of tensor 8 x pipeline 4 x data, of so many workers with so many GPUs each.
class Job {
 public:
  Job(std::uint32_t workers, std::uint32_t per_worker, const char* resource = kGPU)
      : workers_(workers), per_worker_(per_worker), model_(Llama70B()) {
    shape_.tensor = 8;
    shape_.pipeline = 4;
    shape_.sharding = traffic::Sharding::kOptimizerState;
    request_.job = "bench/job";
    request_.workers = workers;
    request_.pod.requests = {{resource, per_worker}};
  }

  // Cost over bound; nothing where it was not placed.
  std::optional<double> Solve(const fabric::Fabric& fabric, const fabric::Claims& claims) {
    const auto traffic = traffic::ComputeTraffic(model_, shape_, workers_, per_worker_);
    if (!traffic) return std::nullopt;
    const traffic::WorkerGraph graph(*traffic);
    request_.grid = traffic::WorkerGrid(shape_, workers_, per_worker_);
    const placement::Placement placement = placement::Place(claims, request_, graph);
    const auto* plan = std::get_if<placement::Plan>(&placement);
    if (plan == nullptr) return std::nullopt;
    const objective::PairCost pair_cost(fabric, false);
    benchmark::DoNotOptimize(objective::Score(pair_cost, *traffic, plan->nodes));
    if (plan->lower_bound == 0) return 1;
    return static_cast<double>(plan->cost) / static_cast<double>(plan->lower_bound);
  }

 private:
  std::uint32_t workers_, per_worker_;
  std::optional<traffic::Model> model_;
  traffic::Parallelism shape_;
  objective::Request request_;
};

// nodes, workers, GPUs a worker
void BM_Solve(benchmark::State& state) {
  const Cluster& cluster = ClusterOf(static_cast<std::uint32_t>(state.range(0)));
  Job job(static_cast<std::uint32_t>(state.range(1)), static_cast<std::uint32_t>(state.range(2)));
  double ratio = 0;
  for (auto _ : state) {
    const auto over_bound = job.Solve(*cluster.fabric, *cluster.claims);
    if (!over_bound) return state.SkipWithError("not placed");
    ratio = *over_bound;
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

// Processor time in microseconds, in the middle, of the slowest in a hundred and of the slowest,
// and the mean cost over the bound.
class Runs {
 public:
  std::size_t count() const { return microseconds_.size(); }

  bool Add(Job& job, const fabric::Fabric& fabric, const fabric::Claims& claims) {
    const std::clock_t begin = std::clock();
    const auto over_bound = job.Solve(fabric, claims);
    const std::clock_t end = std::clock();
    if (!over_bound) return false;
    microseconds_.push_back(1e6 * static_cast<double>(end - begin) / CLOCKS_PER_SEC);
    ratios_ += *over_bound;
    return true;
  }

  void Count(benchmark::State& state) {
    std::sort(microseconds_.begin(), microseconds_.end());
    state.counters["median_us"] = microseconds_[microseconds_.size() / 2];
    state.counters["p99_us"] = microseconds_[microseconds_.size() * 99 / 100];
    state.counters["worst_us"] = microseconds_.back();
    state.counters["cost_over_bound"] = ratios_ / static_cast<double>(microseconds_.size());
  }

 private:
  std::vector<double> microseconds_;
  double ratios_ = 0;
};

// nodes, workers, GPUs a worker: the same on other free nodes each time.
void BM_SolveSeeds(benchmark::State& state) {
  const Cluster& cluster = ClusterOf(static_cast<std::uint32_t>(state.range(0)));
  Job job(static_cast<std::uint32_t>(state.range(1)), static_cast<std::uint32_t>(state.range(2)));
  Runs runs;
  for (auto _ : state) {
    state.PauseTiming();
    const auto claims = HalfFull(*cluster.fabric, runs.count() + 1);
    state.ResumeTiming();
    if (!runs.Add(job, *cluster.fabric, *claims)) return state.SkipWithError("not placed");
  }
  runs.Count(state);
}
constexpr std::int64_t kSeeds = 200;
BENCHMARK(BM_SolveSeeds)
    ->Args({1'000, 1'024, 2})
    ->Args({10'000, 1'024, 8})
    ->Args({100'000, 1'024, 8})
    ->Iterations(kSeeds)
    ->Unit(benchmark::kMicrosecond);

// A pod of 8,960 TPU v5p. What is in use: nothing; half of the cubes; half of the hosts, one by
// one.
enum Use : std::int64_t { kEmpty, kHalfOfCubes, kHalfOfHosts };

std::unique_ptr<fabric::Claims> Used(const fabric::Fabric& fabric, Use use, std::uint64_t seed) {
  auto claims = std::make_unique<fabric::Claims>(fabric);
  if (use == kEmpty) return claims;
  const fabric::Tier tier = use == kHalfOfCubes ? *fabric.FindTier("leaf") : fabric.node_tier();
  const auto& begin = fabric.domains(tier).begin;
  std::vector<fabric::DomainIndex> domains(begin.size() - 1);
  std::iota(domains.begin(), domains.end(), fabric::DomainIndex{0});
  SplitMix64 random(seed);
  for (std::size_t i = domains.size(); i > 1; --i) {
    std::swap(domains[i - 1], domains[random.Below(i)]);
  }
  domains.resize(domains.size() / 2);
  for (const fabric::DomainIndex d : domains) {
    for (fabric::NodeIndex n = begin[d]; n < begin[d + 1]; ++n) claims->Add(n, {{kTPU, 4}});
  }
  return claims;
}

// what is in use, workers of 4 chips: on other free hosts each time. Counters as of BM_SolveSeeds.
void BM_SolveTorus(benchmark::State& state) {
  designs::DesignOptions options;
  options.design = "tpu-v5p-cube";
  auto cluster = designs::GenerateDesign(options);
  if (!cluster) return state.SkipWithError("no design");
  const auto built = fabric::Fabric::Build(cluster->fabric, std::move(cluster->nodes), {});
  if (!built) return state.SkipWithError("no fabric");
  Job job(static_cast<std::uint32_t>(state.range(1)), 4, kTPU);
  Runs runs;
  for (auto _ : state) {
    state.PauseTiming();
    const auto claims = Used(*built, static_cast<Use>(state.range(0)), runs.count() + 1);
    state.ResumeTiming();
    if (!runs.Add(job, *built, *claims)) return state.SkipWithError("not placed");
  }
  runs.Count(state);
}
BENCHMARK(BM_SolveTorus)
    ->Args({kEmpty, 256})
    ->Args({kHalfOfCubes, 256})
    ->Args({kHalfOfHosts, 256})
    ->Iterations(kSeeds)
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
  objective::Request request;
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
