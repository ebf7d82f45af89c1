#include "tests/support/large_instance.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "operator/base/random.h"
#include "operator/rules/node_filter.h"
#include "operator/traffic/worker_grid.h"

namespace weft::testing {

namespace {

constexpr const char* kGPU = "nvidia.com/gpu";
constexpr const char* kRailLabel = "rail-";
constexpr int kRails = 8;
constexpr int kTries = 200;    // draws until a job fits its own shape and the cluster
constexpr int kClusters = 50;  // draws until a job fits one
// Seeds are multiplied by it; it stays what it was when the first tables were made.
constexpr std::uint64_t kSeedStride = 14;

using traffic::Axis;

class Random {
 public:
  explicit Random(std::uint64_t seed) : numbers_(seed) {}
  std::uint32_t Between(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(numbers_.Below(high - low + 1));
  }
  bool Chance(std::uint32_t percent) { return numbers_.Below(100) < percent; }
  template <typename T>
  T Pick(std::initializer_list<T> from) {
    return from.begin()[numbers_.Below(from.size())];
  }

 private:
  SplitMix64 numbers_;
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

bool OnRacks(Family family) {
  return family == Family::kExpertsOnRacks || family == Family::kExpertsPreferRack ||
         family == Family::kUnevenRacks || family == Family::kTensorOnTrays ||
         family == Family::kCrossing;
}

struct Cluster {
  fabric::FabricSpec spec;
  std::vector<fabric::NodeFacts> nodes;
  std::int64_t gpus = 8;     // a node
  std::uint32_t narrow = 1;  // nodes in one rack or leaf
};

// Racks of 18 trays under leaves of a few racks under spines.
Cluster MakeRacks(Random& random, Family family, std::uint32_t count) {
  constexpr std::uint32_t kTrays = 18;
  Cluster cluster;
  cluster.gpus = 4;
  cluster.narrow = kTrays;
  const std::uint32_t racks_per_leaf = random.Pick({4U, 8U, 16U});
  const std::uint32_t leaves_per_spine = random.Pick({2U, 4U, 8U});
  const bool crossing = family == Family::kCrossing;
  cluster.spec.levels = {{"spine", "spine", fabric::Identity::kValue,
                          Link("InfiniBandNDR", random.Pick<std::int64_t>({100, 200, 300}))},
                         {"leaf", "leaf", fabric::Identity::kValue, Link("InfiniBandNDR", 100)}};
  cluster.spec.outside = Link("InfiniBandNDR", random.Pick<std::int64_t>({300, 400, 700}));
  cluster.spec.node_link = Link("NVLink5", 100);
  cluster.spec.scale_up = fabric::ScaleUpSpec{"nvlink", "clique", Link("NVLink5", 100),
                                              fabric::ScaleUpRequires::kNothing};
  // Crossing: a leaf switch for each half of a rack's trays.
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t rack = i / kTrays, half = i % kTrays / (kTrays / 2);
    const std::uint32_t leaf = crossing ? rack / racks_per_leaf * 2 + half : rack / racks_per_leaf;
    fabric::NodeFacts node;
    node.name = Padded("tray-", i);
    node.labels = {{"clique", Padded("rack-", rack)},
                   {"leaf", Padded("leaf-", leaf)},
                   {"spine", Padded("spine-", rack / racks_per_leaf / leaves_per_spine)}};
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

Cluster MakeTree(Random& random, Family family, std::uint32_t count) {
  Cluster cluster;
  const std::uint32_t per_leaf = random.Pick({16U, 32U, 32U, 64U});
  const std::uint32_t leaves_per_spine = random.Pick({4U, 8U, 16U});
  cluster.narrow = per_leaf;
  cluster.spec.levels = {{"spine", "spine", fabric::Identity::kValue,
                          Link("InfiniBandNDR", random.Pick<std::int64_t>({100, 200, 300}))},
                         {"leaf", "leaf", fabric::Identity::kValue, Link("InfiniBandNDR", 100)}};
  cluster.spec.outside = Link("InfiniBandNDR", random.Pick<std::int64_t>({300, 400, 700}));
  cluster.spec.node_link = Link("NVLink4", 100);
  const bool rails = family == Family::kRails;
  if (rails) {
    cluster.spec.rails = fabric::RailsSpec{.count = kRails, .leaf_label_keys = {}};
    for (int r = 0; r < kRails; ++r) {
      cluster.spec.rails->leaf_label_keys.push_back(kRailLabel + std::to_string(r));
    }
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    fabric::NodeFacts node;
    node.name = Padded("node-", i);
    const std::uint32_t leaf = i / per_leaf;
    node.labels.Set("spine", Padded("spine-", leaf / leaves_per_spine));
    if (rails) {
      const bool degraded = random.Chance(1);
      for (int r = 0; r < kRails - (degraded ? 1 : 0); ++r) {
        node.labels.Set(kRailLabel + std::to_string(r),
                        Padded("leaf-", leaf) + "-" + std::to_string(r));
      }
    } else {
      node.labels.Set("leaf", Padded("leaf-", leaf));
    }
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

// Earlier jobs: whole domains, runs of nodes, single nodes and parts of nodes, until `percent` of
// the GPUs are in use.
std::vector<std::int64_t> UsedGPUs(Random& random, const Cluster& cluster, Family family,
                                   std::uint32_t percent) {
  const auto count = static_cast<std::uint32_t>(cluster.nodes.size());
  std::vector<std::int64_t> used(count, 0);
  const std::int64_t target = static_cast<std::int64_t>(count) * cluster.gpus * percent / 100;
  const bool parts = family == Family::kSeveralANode || random.Chance(30);
  const std::uint32_t domains = random.Pick({0U, 20U, 50U});  // percent that take whole domains
  for (std::int64_t sum = 0; sum < target;) {
    std::uint32_t begin = random.Between(0, count - 1), length = 1;
    std::int64_t amount = cluster.gpus;
    if (random.Chance(domains)) {
      begin -= begin % cluster.narrow;
      length = cluster.narrow;
    } else if (random.Chance(40)) {
      length = random.Between(2, cluster.narrow);
    } else if (parts && random.Chance(60)) {
      amount = random.Between(1, static_cast<std::uint32_t>(cluster.gpus) - 1);
    }
    for (std::uint32_t n = begin; n < std::min(count, begin + length); ++n) {
      const std::int64_t more = std::min(amount, cluster.gpus - used[n]);
      used[n] += more;
      sum += more;
    }
  }
  if (family != Family::kUnevenRacks) return used;
  for (std::uint32_t n = 0; n < count;
       ++n) {  // trays kept aside: the last one or two of most racks
    const std::uint32_t aside = n / cluster.narrow % 4 == 0   ? 0
                                : n / cluster.narrow % 3 == 0 ? 1
                                                              : 2;
    if (n % cluster.narrow + aside >= cluster.narrow) used[n] = cluster.gpus;
  }
  return used;
}

struct Job {
  traffic::Parallelism shape;
  traffic::Transformer model;
  std::uint32_t workers = 0, per_worker = 8;
  std::vector<Axis> group;  // a topology group that prefers the narrowest level
};

traffic::Transformer DrawModel(Random& random, bool experts) {
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

void DrawExperts(Random& random, Job& job) {
  job.shape.tensor = random.Pick<std::int64_t>({1, 2, 4});
  job.shape.expert_tensor = 1;
  job.shape.expert = random.Pick<std::int64_t>({8, 16, 32, 64});
  job.shape.pipeline = random.Pick<std::int64_t>({1, 2, 4, 8});
}

// Degrees of the family; true where the job has experts.
bool DrawShape(Random& random, Family family, Job& job) {
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
  }
  return false;
}

Job DrawJob(Random& random, Family family, const LargeOptions& options) {
  Job job;
  job.per_worker = OnRacks(family) ? 4 : 8;
  std::uint32_t size = options.fewest_workers;
  while (size * 2 <= options.most_workers && random.Chance(80)) size *= 2;
  if (random.Chance(30)) size = size * 3 / 2;
  job.workers = std::min(size, options.most_workers);
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
void Constrain(Random& random, RandomInstance& instance, const std::vector<std::uint32_t>& slots) {
  placement::Request& request = instance.request;
  const fabric::Fabric& fabric = *instance.fabric;
  fabric::Tier holds = fabric::kOutside;
  for (fabric::Tier t = 1; t < fabric.node_tier(); ++t) {
    const auto& domains = fabric.domains(t);
    for (fabric::DomainIndex d = 0; d < domains.size(); ++d) {
      std::uint64_t room = 0;
      for (fabric::NodeIndex n = domains.begin[d]; n < domains.begin[d + 1]; ++n) room += slots[n];
      if (room >= request.workers) holds = t;
    }
  }
  if (holds > 0 && random.Chance(50)) request.required = holds;
  request.preferred = random.Between(std::max(1U, holds), fabric.node_tier() - 1);
}

bool AddGroup(const Job& job, RandomInstance& instance) {
  if (job.group.empty()) return true;
  auto sets = traffic::GroupWorkers(job.group, job.shape, job.workers, job.per_worker);
  if (!sets) return false;
  placement::GroupConstraint group;
  group.sets = *std::move(sets);
  group.preferred = instance.fabric->node_tier() - 1;
  instance.request.groups.push_back(std::move(group));
  return true;
}

// False where the degrees of the job do not divide, or it does not fit.
bool AddJob(Random& random, Family family, const Job& job, RandomInstance& instance) {
  traffic::Model model;
  model.transformer = job.model;
  auto traffic = traffic::ComputeTraffic(model, job.shape, job.workers, job.per_worker);
  if (!traffic) return false;
  instance.traffic = *std::move(traffic);
  placement::Request& request = instance.request;
  request = {};
  request.job = "test/job";
  request.workers = job.workers;
  request.pod.requests = {{kGPU, job.per_worker}};
  request.grid = traffic::WorkerGrid(job.shape, job.workers, job.per_worker);
  if (const auto* ring = traffic::LargestRing(instance.traffic)) request.ring = *ring;
  std::vector<std::uint32_t> slots;
  placement::CountSlots(
      *instance.claims,
      {.pod = &request.pod, .job = request.job, .excluded = {}, .cap = job.workers}, slots);
  std::uint64_t room = 0;
  for (std::uint32_t s : slots) room += s;
  if (room < job.workers) return false;
  instance.graph = std::make_unique<traffic::WorkerGraph>(instance.traffic);
  if (family == Family::kLevels) Constrain(random, instance, slots);
  return AddGroup(job, instance);
}

// The cluster with what earlier jobs use of it.
RandomInstance Build(Random& random, Family family, Cluster cluster, std::uint32_t percent) {
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

// A cluster and a job, or nothing if no job that was drawn fits the cluster.
std::optional<RandomInstance> TryInstance(Random& random, Family family,
                                          const LargeOptions& options) {
  std::uint32_t count = options.fewest_nodes;
  while (count * 2 <= options.most_nodes && random.Chance(60)) count *= 2;
  count = random.Between(count, std::min(options.most_nodes, count * 2));
  Cluster cluster =
      OnRacks(family) ? MakeRacks(random, family, count) : MakeTree(random, family, count);
  const std::uint32_t percent = random.Between(30, options.most_percent_used);
  RandomInstance instance = Build(random, family, std::move(cluster), percent);
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
                                                              "crossing NVLink domains"};
  return kNames[static_cast<std::size_t>(family)];
}

RandomInstance MakeLargeInstance(Family family, std::uint64_t seed, const LargeOptions& options) {
  Random random(seed * kSeedStride + static_cast<std::uint64_t>(family));
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
