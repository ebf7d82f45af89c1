#include "tests/support/large_instance.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "operator/rules/node_filter.h"
#include "operator/traffic/worker_grid.h"
#include "operator/traffic/worker_sets.h"
#include "tests/support/large_clusters.h"

namespace weft::testing {

namespace {

constexpr const char* kGPU = "nvidia.com/gpu";
constexpr int kTries = 200;    // draws until a job fits its own shape and the cluster
constexpr int kClusters = 50;  // draws until a job fits one
// Seeds are multiplied by it. It stays what it was when the first tables were made: the number of
// families then. Later families begin at another number, so that each has numbers of its own.
constexpr std::uint64_t kSeedStride = 14;
constexpr std::uint64_t kLaterFamilies = std::uint64_t{1} << 40;

using traffic::Axis;

struct Job {
  traffic::Parallelism shape;
  traffic::Transformer model;
  std::uint32_t workers = 0, per_worker = 8;
  std::vector<Axis> group;  // a topology group that prefers the narrowest level
};

traffic::Transformer DrawModel(Draws& random, bool experts) {
  traffic::Transformer model;
  struct Size {
    std::int64_t parameters, layers, hidden, heads, feed_forward;
  };
  const Size size = random.Pick<Size>({{8'000'000'000, 32, 4096, 32, 14336},
                                       {70'600'000'000, 80, 8192, 64, 28672},
                                       {405'000'000'000, 128, 16384, 128, 53248}});
  model.parameters = size.parameters;
  model.layers = size.layers;
  model.hidden_size = size.hidden;
  model.attention_heads = size.heads;
  model.key_value_heads = 8;
  model.feed_forward_size = size.feed_forward;
  model.vocabulary_size = 128'256;
  model.sequence_length = random.Pick<std::int64_t>({4096, 8192, 32768});
  model.micro_batch_size = 1;
  if (experts) {
    model.moe = traffic::MixtureOfExperts{.experts = 128,
                                          .top_k = random.Pick<std::int64_t>({2, 4, 8}),
                                          .layers = model.layers,
                                          .feed_forward_size = 4096,
                                          .shared_experts = 0};
  }
  return model;
}

void DrawExperts(Draws& random, Job& job) {
  job.shape.tensor = random.Pick<std::int64_t>({1, 2, 4});
  job.shape.expert_tensor = 1;
  job.shape.expert = random.Pick<std::int64_t>({8, 16, 32, 64});
  job.shape.pipeline = random.Pick<std::int64_t>({1, 2, 4, 8});
}

// One axis takes all workers: a ring of all ranks, a ring for each tensor rank, or a pipeline.
void DrawPrimeShape(Draws& random, Job& job) {
  switch (random.Between(0, 2)) {
    case 0:
      job.shape.sharding = traffic::Sharding::kFull;
      break;
    case 1:
      job.shape.tensor = job.per_worker;
      break;
    default:
      job.shape.tensor = job.per_worker;
      job.shape.pipeline = job.workers;
  }
}

// Any of the usual kinds of jobs; true where the job has experts.
bool DrawMixedShape(Draws& random, Job& job) {
  traffic::Parallelism& shape = job.shape;
  switch (random.Between(0, 3)) {
    case 0:
      DrawExperts(random, job);
      return true;
    case 1:
      shape.tensor = random.Pick<std::int64_t>({1, 4, 8});
      shape.context = random.Pick<std::int64_t>({4, 8});
      shape.pipeline = random.Pick<std::int64_t>({1, 2, 4});
      return false;
    case 2:
      if (random.Chance(50)) {
        shape.sharding = traffic::Sharding::kFull;
      } else {
        shape.sharding = traffic::Sharding::kHybrid;
        shape.shard_group_size = random.Pick<std::int64_t>({16, 32, 64});
      }
      return false;
    default:
      shape.tensor = random.Pick<std::int64_t>({2, 4, 8});
      shape.pipeline = random.Pick<std::int64_t>({2, 4, 8, 16});
      return false;
  }
}

// Degrees of the family; true where the job has experts.
bool DrawShape(Draws& random, Family family, Job& job) {
  traffic::Parallelism& shape = job.shape;
  switch (family) {
    case Family::kExpertsOnRacks:
    case Family::kExpertsPreferRack:
    case Family::kCrossing:
      DrawExperts(random, job);
      return true;
    case Family::kExpertsAcrossNodes:
      DrawExperts(random, job);
      shape.tensor = random.Pick<std::int64_t>({1, 4, 8});
      return true;
    case Family::kUnevenRacks:
      if (random.Chance(50)) {
        DrawExperts(random, job);
        return true;
      }
      shape.tensor = 4;
      shape.context = random.Pick<std::int64_t>({4, 8, 16});
      shape.pipeline = random.Pick<std::int64_t>({1, 2, 4});
      return false;
    case Family::kHybridSharding:
      shape.tensor = random.Pick<std::int64_t>({1, 1, 8});
      shape.sharding = traffic::Sharding::kHybrid;
      shape.shard_group_size = random.Pick<std::int64_t>({32, 64, 128}) / shape.tensor;
      return false;
    case Family::kFullSharding:
      shape.sharding = traffic::Sharding::kFull;
      return false;
    case Family::kTensorOnTrays:
      shape.tensor = 8;
      shape.pipeline = random.Pick<std::int64_t>({1, 2, 4, 8});
      return false;
    case Family::kContext:
      shape.tensor = 8;
      shape.context = random.Pick<std::int64_t>({8, 16});
      shape.pipeline = random.Pick<std::int64_t>({1, 2, 4});
      return false;
    case Family::kSeveralANode:
      job.per_worker = random.Pick<std::uint32_t>({1, 2, 4});
      shape.tensor = random.Pick<std::int64_t>({2, 4, 8});
      shape.pipeline = random.Pick<std::int64_t>({1, 2, 4});
      return false;
    case Family::kTensorTwoNodes:
      shape.tensor = 16;
      shape.pipeline = random.Pick<std::int64_t>({1, 2, 4, 8});
      return false;
    case Family::kGrid:
    case Family::kLevels:
    case Family::kRails:
      shape.tensor = 8;
      shape.pipeline = random.Pick<std::int64_t>({2, 4, 8, 16});
      shape.context = family == Family::kGrid ? 1 : random.Pick<std::int64_t>({1, 2, 4});
      return false;
    case Family::kPrimes:
      DrawPrimeShape(random, job);
      return false;
    case Family::kMixedFree:
      job.per_worker = random.Pick<std::uint32_t>({1, 2, 4});
      return DrawMixedShape(random, job);
    case Family::kSpareTrays:
    case Family::kTapered:
    case Family::kMI300XRails:
    case Family::kTorus:
      return DrawMixedShape(random, job);
  }
  return false;
}

// The largest prime number that is not above `number`, which is at least 2.
std::uint32_t PrimeWithin(std::uint32_t number) {
  const auto prime = [](std::uint32_t n) {
    for (std::uint32_t d = 2; d * d <= n; ++d) {
      if (n % d == 0) return false;
    }
    return true;
  };
  while (!prime(number)) --number;
  return number;
}

Job DrawJob(Draws& random, Family family, const LargeOptions& options) {
  Job job;
  job.per_worker = GPUsANode(family);
  std::uint32_t size = options.fewest_workers;
  while (size * 2 <= options.most_workers && random.Chance(80)) size *= 2;
  if (random.Chance(30)) size = size * 3 / 2;
  job.workers = std::min(size, options.most_workers);
  if (family == Family::kPrimes) job.workers = PrimeWithin(job.workers);
  const bool experts = DrawShape(random, family, job);
  traffic::Parallelism& shape = job.shape;
  if (shape.sharding == traffic::Sharding::kNone && random.Chance(60)) {
    shape.sharding = traffic::Sharding::kOptimizerState;
  }
  job.model = DrawModel(random, experts);
  const std::int64_t ranks = static_cast<std::int64_t>(job.workers) * job.per_worker;
  const std::int64_t data = ranks / (shape.tensor * shape.context * shape.pipeline);
  job.model.global_batch_size =
      std::max<std::int64_t>(1, data) * random.Pick<std::int64_t>({4, 16});
  if (family == Family::kExpertsPreferRack) job.group = {Axis::kExpert};
  if (family == Family::kUnevenRacks && random.Chance(50)) {
    job.group = {experts ? Axis::kExpert : Axis::kContext};
  }
  return job;
}

// The level `required` is the narrowest one with a domain that holds the job, sometimes;
// `preferred` is at or inside it.
void Constrain(Draws& random, RandomInstance& instance,
               const fabric::ByNode<std::uint32_t>& slots) {
  objective::Request& request = instance.request;
  const fabric::Fabric& fabric = *instance.fabric;
  fabric::Tier holds = fabric::kOutside;
  for (fabric::Tier t{1}; t < fabric.node_tier(); ++t) {
    const auto& domains = fabric.domains(t);
    for (fabric::DomainIndex d{0}; d < domains.EndIndex(); ++d) {
      std::uint64_t room = 0;
      for (fabric::NodeIndex n = domains.begin[d]; n < domains.begin[d + 1]; ++n) room += slots[n];
      if (room >= request.workers) holds = t;
    }
  }
  if (holds > fabric::kOutside && random.Chance(50)) request.required = holds;
  request.preferred = TierBetween(random, std::max(fabric::Tier{1}, holds), fabric.node_tier() - 1);
}

bool AddGroup(const Job& job, RandomInstance& instance) {
  if (job.group.empty()) return true;
  auto sets = traffic::GroupWorkers(job.group, job.shape, job.workers, job.per_worker);
  if (!sets) return false;
  objective::GroupConstraint group;
  group.sets = *std::move(sets);
  group.preferred = instance.fabric->node_tier() - 1;
  instance.request.groups.push_back(std::move(group));
  return true;
}

// False where the degrees of the job do not divide, or it does not fit.
bool AddJob(Draws& random, Family family, const Job& job, RandomInstance& instance) {
  traffic::Model model;
  model.transformer = job.model;
  auto traffic = traffic::ComputeTraffic(model, job.shape, job.workers, job.per_worker);
  if (!traffic) return false;
  instance.traffic = *std::move(traffic);
  objective::Request& request = instance.request;
  request = {};
  request.job = "test/job";
  request.workers = job.workers;
  request.pod.requests = {{kGPU, job.per_worker}};
  request.grid = traffic::WorkerGrid(job.shape, job.workers, job.per_worker);
  if (const auto* ring = traffic::LargestRing(instance.traffic)) request.ring = *ring;
  fabric::ByNode<std::uint32_t> slots;
  rules::CountSlots(*instance.claims,
                    {.pod = &request.pod, .job = request.job, .excluded = {}, .cap = job.workers},
                    slots);
  std::uint64_t room = 0;
  for (std::uint32_t s : slots) room += s;
  if (room < job.workers) return false;
  instance.graph = std::make_unique<traffic::WorkerGraph>(instance.traffic);
  if (family == Family::kLevels) Constrain(random, instance, slots);
  return AddGroup(job, instance);
}

// The cluster with what earlier jobs use of it.
RandomInstance Build(Draws& random, Family family, LargeCluster cluster, std::uint32_t percent) {
  for (fabric::NodeFacts& node : cluster.nodes) {
    node.allocatable = {{kGPU, cluster.gpus}, {"pods", 110}};
  }
  const std::vector<std::int64_t> used = UsedGPUs(random, cluster, family, percent);
  std::vector<std::string> names;
  for (const fabric::NodeFacts& node : cluster.nodes) names.push_back(node.name);
  auto built = fabric::Fabric::Build(cluster.spec, std::move(cluster.nodes), {});
  if (!built) {
    std::fprintf(stderr, "%s\n", built.error().message.c_str());
    std::abort();
  }
  RandomInstance instance;
  instance.fabric = std::make_unique<fabric::Fabric>(*std::move(built));
  instance.claims = std::make_unique<fabric::Claims>(*instance.fabric);
  for (std::size_t i = 0; i < used.size(); ++i) {
    const auto node = instance.fabric->FindNode(names[i]);
    if (node && used[i] > 0) instance.claims->Add(*node, {{kGPU, used[i]}});
  }
  return instance;
}

// How many of the smallest workers of the family fit.
std::uint64_t MostWorkers(const fabric::Claims& claims, Family family) {
  const bool parts = family == Family::kSeveralANode || family == Family::kMixedFree;
  const std::int64_t gpus = parts ? 1 : GPUsANode(family);
  std::uint64_t workers = 0;
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(claims.fabric().node_count())) {
    workers += static_cast<std::uint64_t>(claims.free_accelerators(n) / gpus);
  }
  return workers;
}

// A cluster and a job, or nothing if no job that was drawn fits the cluster.
std::optional<RandomInstance> TryInstance(Draws& random, Family family,
                                          const LargeOptions& options) {
  std::uint32_t count = options.fewest_nodes;
  while (count * 2 <= options.most_nodes && random.Chance(60)) count *= 2;
  count = random.Between(count, std::min(options.most_nodes, count * 2));
  LargeCluster cluster = MakeLargeCluster(random, family, count);
  count = static_cast<std::uint32_t>(cluster.nodes.size());
  const std::uint32_t percent = random.Between(30, options.most_percent_used);
  RandomInstance instance = Build(random, family, std::move(cluster), percent);
  if (MostWorkers(*instance.claims, family) < options.fewest_workers) return std::nullopt;
  for (int tries = 0; tries < kTries; ++tries) {
    const Job job = DrawJob(random, family, options);
    if (!AddJob(random, family, job, instance)) continue;
    char text[200];
    std::snprintf(
        text, sizeof text, "%u workers of %u GPUs, %u nodes, %u %% full, t%lld c%lld p%lld e%lld",
        job.workers, job.per_worker, count, percent, static_cast<long long>(job.shape.tensor),
        static_cast<long long>(job.shape.context), static_cast<long long>(job.shape.pipeline),
        static_cast<long long>(job.shape.expert));
    instance.what = text;
    return instance;
  }
  return std::nullopt;
}

}  // namespace

std::string_view FamilyName(Family family) {
  constexpr std::array<std::string_view, kFamilies> kNames = {"experts on NVL72",
                                                              "experts that prefer nvlink",
                                                              "experts across H100 nodes",
                                                              "HSDP",
                                                              "FSDP rings",
                                                              "uneven racks",
                                                              "tensor 8 on 4-GPU trays",
                                                              "context 8 and 16",
                                                              "several workers a node",
                                                              "tensor 16 over two nodes",
                                                              "tensor 8 x pipeline x data",
                                                              "preferred and required levels",
                                                              "rails",
                                                              "crossing NVLink domains",
                                                              "GB300 with two spare trays",
                                                              "RoCE 3:1 twice",
                                                              "MI300X rails",
                                                              "prime counts",
                                                              "1 to 8 free GPUs",
                                                              "torus"};
  return kNames[static_cast<std::size_t>(family)];
}

RandomInstance MakeLargeInstance(Family family, std::uint64_t seed, const LargeOptions& options) {
  const auto number = static_cast<std::uint64_t>(family);
  Draws random(seed * kSeedStride + number + (number < kSeedStride ? 0 : kLaterFamilies));
  for (int clusters = 0; clusters < kClusters; ++clusters) {
    auto instance = TryInstance(random, family, options);
    if (!instance) continue;
    instance->what =
        std::string(FamilyName(family)) + ", seed " + std::to_string(seed) + ": " + instance->what;
    return *std::move(instance);
  }
  std::fprintf(stderr, "no job of the family fits: seed %llu\n",
               static_cast<unsigned long long>(seed));
  std::abort();
}

}  // namespace weft::testing
