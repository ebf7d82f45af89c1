// Whether cost C ranks placements as the predicted step does: for each kind of job on each fabric,
// 200 placements from good to bad.
//
//   objective [--placements N] [--seed N]
//
// The first placement is the solver's. The others begin with it, or with whole leaves in random
// order, and then move more and more workers to random nodes. Prints a Markdown table:
//
//   rank correlation   Spearman's, between C and the predicted step; "-" if all steps are equal
//   slower             how much longer the step of the placement with least C is than the shortest
//   at stake           how much longer the longest step of the 200 is than the shortest
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/random.h"
#include "operator/cluster/problem.h"
#include "operator/objective/pair_cost.h"
#include "operator/placement/place.h"
#include "operator/predict/predict.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"

namespace weft {
namespace {

using fabric::NodeIndex;

constexpr std::uint32_t kRanks = 512;

struct Arguments {
  std::uint64_t placements = 200, seed = 1;
};

struct Site {
  const char* name;
  testing::FabricShape shape;
  std::uint32_t per_node;
};

struct Job {
  const char* name;
  traffic::Transformer model;
  traffic::Parallelism parallelism;
};

// Four spines of eight leaves of eight nodes.
testing::FabricShape Tree(std::int64_t leaf, std::int64_t spine, std::int64_t outside) {
  constexpr std::uint32_t kNodesPerLeaf = 8, kNodesPerSpine = 64, kNodes = 256;
  testing::FabricShape shape;
  shape.levels = {{"spine", spine}, {"leaf", leaf}};
  shape.outside_femtoseconds_per_byte = outside;
  shape.node_femtoseconds_per_byte = 2'222;  // NVLink4
  for (std::uint32_t n = 0; n < kNodes; ++n) {
    testing::TestNode node;
    node.name = testing::Numbered("n", n, kNodes);
    node.domains = {testing::Numbered("s", n / kNodesPerSpine, 10),
                    testing::Numbered("l", n / kNodesPerLeaf, 100)};
    node.labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3";
    shape.nodes.push_back(std::move(node));
  }
  return shape;
}

// Four spines of four racks of 18 trays of four GPUs, with NVLink across the rack.
testing::FabricShape Racks() {
  constexpr std::uint32_t kTrays = 18, kRacksPerSpine = 4, kNodes = 288;
  testing::FabricShape shape;
  shape.levels = {{"spine", 20'000}, {"leaf", 20'000}};
  shape.outside_femtoseconds_per_byte = 40'000;
  shape.scale_up = true;
  for (std::uint32_t n = 0; n < kNodes; ++n) {
    const std::uint32_t rack = n / kTrays;
    testing::TestNode node;
    node.name = testing::Numbered("n", n, kNodes);
    node.domains = {testing::Numbered("s", rack / kRacksPerSpine, 10),
                    testing::Numbered("l", rack, 100)};
    node.scale_up = testing::Numbered("v", rack, 100);
    node.accelerators = 4;
    node.labels["nvidia.com/gpu.product"] = "NVIDIA-GB200";
    shape.nodes.push_back(std::move(node));
  }
  return shape;
}

std::vector<Site> Sites() {
  return {{"NVL72", Racks(), 4},
          {"tapered tree, 3:1 and 7:1", Tree(20'000, 60'000, 140'000), 8},
          {"tree 1:1", Tree(20'000, 20'000, 20'000), 8}};
}

traffic::Transformer Experts() {
  traffic::Transformer model = traffic::testing::DeepSeekV3();
  model.micro_batch_size = 1;
  model.global_batch_size = 4096;
  return model;
}

std::vector<Job> Jobs() {
  const traffic::Transformer llama = traffic::testing::Llama70B();
  traffic::Transformer longer = llama;
  longer.sequence_length = 131'072;
  longer.global_batch_size = 64;
  using traffic::Sharding;
  const auto degrees = [](std::int64_t tensor, std::int64_t context, std::int64_t pipeline,
                          Sharding sharding) {
    traffic::Parallelism p = traffic::testing::Degrees(tensor, context, pipeline);
    p.sharding = sharding;
    return p;
  };
  std::vector<Job> jobs = {
      {"dense: tensor 8, pipeline 4", llama, degrees(8, 1, 4, Sharding::kOptimizerState)},
      {"FSDP", llama, degrees(1, 1, 1, Sharding::kFull)},
      {"HSDP, 64 a group", llama, degrees(1, 1, 1, Sharding::kHybrid)},
      {"experts: expert 32, pipeline 4", Experts(), degrees(1, 1, 4, Sharding::kOptimizerState)},
      {"long context: tensor 8, context 16", longer, degrees(8, 16, 1, Sharding::kOptimizerState)}};
  jobs[2].parallelism.shard_group_size = 64;
  jobs[3].parallelism.expert = 32;
  return jobs;
}

// Placements of one job, from good to bad.
class Placements {
 public:
  Placements(const fabric::Fabric& fabric, ByWorker<NodeIndex> best, std::uint64_t seed)
      : fabric_(fabric), best_(std::move(best)), random_(seed) {}

  // Placement `i` of `count`: the first is the best, the last is nearly random.
  ByWorker<NodeIndex> Make(std::uint64_t i, std::uint64_t count) {
    ByWorker<NodeIndex> nodes = i % 2 == 0 ? best_ : WholeLeaves();
    if (i == 0) return nodes;
    const double share = static_cast<double>(i / 2) / static_cast<double>(count / 2);
    const double moves = std::pow(2.0 * static_cast<double>(nodes.size()), share);
    for (std::int64_t m = i < 2 ? 0 : std::llround(moves); m > 0; --m) Move(nodes);
    return nodes;
  }

 private:
  ByWorker<NodeIndex> WholeLeaves() {
    const fabric::TierDomains& leaves = fabric_.domains(kLeaf);
    std::vector<fabric::DomainIndex> order(leaves.names.size());
    std::iota(order.begin(), order.end(), fabric::DomainIndex{0});
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.Below(i)]);
    ByWorker<NodeIndex> nodes;
    for (const fabric::DomainIndex leaf : order) {
      for (NodeIndex n{0}; n < NodeIndex{fabric_.node_count()} && nodes.size() < best_.size();
           ++n) {
        if (leaves.of_node[n] == leaf) nodes.push_back(n);
      }
    }
    return nodes;
  }

  // One worker goes to a random node; a worker that is there takes its place.
  void Move(ByWorker<NodeIndex>& nodes) {
    NodeIndex& from = nodes[WorkerIndex::Of(random_.Below(nodes.size()))];
    const auto to = NodeIndex::Of(random_.Below(fabric_.node_count()));
    const auto there = std::find(nodes.begin(), nodes.end(), to);
    if (there == nodes.end()) {
      from = to;
    } else {
      std::swap(from, *there);
    }
  }

  static constexpr fabric::Tier kLeaf{2};  // below `outside` and the spine

  const fabric::Fabric& fabric_;
  const ByWorker<NodeIndex> best_;
  SplitMix64 random_;
};

// The rank of each value, 0 the least; equal values share the mean of their ranks.
std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double mean = static_cast<double>(begin + end - 1) / 2;
    for (; begin < end; ++begin) ranks[order[begin]] = mean;
  }
  return ranks;
}

double Correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  const double mean = (n - 1) / 2;  // of ranks
  double both = 0, of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean) * (b[i] - mean);
    of_a += (a[i] - mean) * (a[i] - mean);
    of_b += (b[i] - mean) * (b[i] - mean);
  }
  return both / std::sqrt(of_a * of_b);
}

[[noreturn]] void Stop(const std::string& why) {
  std::fprintf(stderr, "objective: %s\n", why.c_str());
  std::exit(1);
}

void Measure(const Site& site, const Job& job, const Arguments& arguments) {
  testing::Scene scene(site.shape);
  api::TrainingJob& object = scene.Job("job", kRanks / site.per_node, site.per_node);
  object.model = traffic::Model{job.model, {}};
  object.parallelism = job.parallelism;
  const cluster::Cluster cluster = scene.Build();
  const cluster::ClusterFabric& on = cluster.fabrics[0];
  const auto workloads = cluster::PendingWorkloads(cluster, cluster::Order::kFile);
  const auto problem = cluster::MakeProblem(on, workloads->front());
  if (!problem) Stop(problem.error().message);
  const traffic::WorkerGraph graph(problem->traffic);
  const auto plan = placement::Solve(on.claims, problem->request, graph);
  if (!plan) Stop(std::string(job.name) + ": not placed");
  const objective::PairCost pair_cost(*on.fabric, true);
  Placements placements(*on.fabric, plan->nodes, arguments.seed);
  std::vector<double> costs, steps;
  for (std::uint64_t i = 0; i < arguments.placements; ++i) {
    const ByWorker<NodeIndex> nodes = placements.Make(i, arguments.placements);
    const auto one = predict::Predict(on, workloads->front(), problem->traffic, nodes);
    if (!one) Stop(one.error().message);
    costs.push_back(static_cast<double>(objective::Cost(pair_cost, graph, nodes)));
    steps.push_back(one->prediction.step.Seconds());
  }
  const auto liked = std::min_element(costs.begin(), costs.end()) - costs.begin();
  const double shortest = *std::min_element(steps.begin(), steps.end());
  const double longest = *std::max_element(steps.begin(), steps.end());
  std::array<char, 16> correlation = {'-'};
  if (longest > shortest) {
    std::snprintf(correlation.data(), correlation.size(), "%.3f",
                  Correlation(Ranks(costs), Ranks(steps)));
  }
  std::printf("| %s | %s | %s | %.2f %% | %.0f %% |\n", site.name, job.name, correlation.data(),
              100 * (steps[static_cast<std::size_t>(liked)] / shortest - 1),
              100 * (longest / shortest - 1));
  std::fflush(stdout);
}

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) Stop(std::string(name) + ": lacks a number");
    const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--placements" && value >= 2) {
      arguments.placements = value;
    } else if (name == "--seed") {
      arguments.seed = value;
    } else {
      Stop("usage: objective [--placements N] [--seed N], at least 2 placements");
    }
  }
  return arguments;
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  const weft::Arguments arguments = weft::Parse(argc, argv);
  std::printf("| fabric | job of 512 GPUs | rank correlation | slower | at stake |\n");
  std::printf("| --- | --- | --- | --- | --- |\n");
  for (const weft::Site& site : weft::Sites()) {
    for (const weft::Job& job : weft::Jobs()) weft::Measure(site, job, arguments);
  }
}
