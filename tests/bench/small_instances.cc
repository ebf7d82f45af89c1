#include "tests/bench/small_instances.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "operator/rules/node_filter.h"
#include "operator/traffic/worker_grid.h"
#include "operator/traffic/worker_sets.h"
#include "tests/support/large_clusters.h"

namespace weft::quality {

using testing::Draws;
using testing::RandomInstance;
using traffic::Axis;

namespace {

constexpr const char* kGPU = "nvidia.com/gpu";
constexpr std::uint32_t kGPUs = 8;  // a node
constexpr std::uint32_t kFewestWorkers = 4, kMostWorkers = 16;

fabric::LinkSpec Link(const char* type, std::int64_t oversubscription) {
  fabric::LinkSpec link;
  link.type = type;
  link.oversubscription_percent = oversubscription;
  return link;
}

fabric::FabricSpec DrawSpec(Draws& random, bool scale_up) {
  fabric::FabricSpec spec;
  spec.levels = {{"spine", "spine", fabric::Identity::kValue,
                  Link("InfiniBandNDR", random.Pick<std::int64_t>({100, 200, 300}))},
                 {"leaf", "leaf", fabric::Identity::kValue, Link("InfiniBandNDR", 100)}};
  spec.outside = Link("InfiniBandNDR", random.Pick<std::int64_t>({300, 400, 700}));
  spec.node_link = Link("NVLink4", 100);
  if (scale_up) {
    spec.scale_up = fabric::ScaleUpSpec{"nvlink", "clique", Link("NVLink5", 100),
                                        fabric::ScaleUpRequires::kNothing};
  }
  return spec;
}

// The leaf of each node: runs of equal length, or of any length.
std::vector<std::uint32_t> DrawLeaves(Draws& random, const SmallCluster& cluster) {
  const std::uint32_t size = cluster.nodes / random.Pick({2U, 4U, 8U}) / (cluster.nodes / 150 + 1);
  std::vector<std::uint32_t> leaf_of;
  for (std::uint32_t leaf = 0; leaf_of.size() < cluster.nodes; ++leaf) {
    const std::uint32_t length = cluster.irregular ? random.Between(1, 2 * size) : size;
    for (std::uint32_t i = 0; i < length && leaf_of.size() < cluster.nodes; ++i) {
      leaf_of.push_back(leaf);
    }
  }
  return leaf_of;
}

// The spine of each leaf.
std::vector<std::uint32_t> DrawSpines(Draws& random, std::uint32_t leaves, bool irregular) {
  const std::uint32_t size = random.Pick({2U, 4U});
  std::vector<std::uint32_t> spine_of;
  for (std::uint32_t spine = 0; spine_of.size() < leaves; ++spine) {
    const std::uint32_t length = irregular ? random.Between(1, 2 * size) : size;
    for (std::uint32_t i = 0; i < length && spine_of.size() < leaves; ++i) {
      spine_of.push_back(spine);
    }
  }
  return spine_of;
}

std::vector<fabric::NodeFacts> DrawNodes(Draws& random, const SmallCluster& cluster,
                                         bool scale_up) {
  const std::vector<std::uint32_t> leaf_of = DrawLeaves(random, cluster);
  const std::uint32_t leaves = leaf_of.back() + 1;
  const std::vector<std::uint32_t> spine_of = DrawSpines(random, leaves, cluster.irregular);
  const bool crossing = random.Chance(30);
  const std::uint32_t clique = random.Between(2, 6);
  std::vector<fabric::NodeFacts> nodes(cluster.nodes);
  for (std::uint32_t i = 0, in_leaf = 0; i < cluster.nodes; ++i) {
    in_leaf = i > 0 && leaf_of[i] == leaf_of[i - 1] ? in_leaf + 1 : 0;
    char name[32];
    std::snprintf(name, sizeof name, "node-%04u", i);
    nodes[i].name = name;
    nodes[i].labels.Set("leaf", "leaf-" + std::to_string(leaf_of[i]));
    nodes[i].labels.Set("spine", "spine-" + std::to_string(spine_of[leaf_of[i]]));
    if (scale_up) {
      nodes[i].labels.Set("clique", crossing ? "c" + std::to_string(i % (cluster.nodes / clique))
                                             : "c" + std::to_string(leaf_of[i]) + "-" +
                                                   std::to_string(in_leaf / clique));
    }
    nodes[i].allocatable = {{kGPU, kGPUs}, {"pods", 110}};
  }
  return nodes;
}

std::uint32_t DrawUsed(Draws& random, bool irregular) {
  if (irregular) return random.Between(0, kGPUs);
  return random.Pick({0U, random.Pick({2U, 4U, 6U}), kGPUs});
}

RandomInstance DrawCluster(Draws& random, const SmallCluster& cluster) {
  const bool scale_up = cluster.irregular && random.Chance(50);
  fabric::FabricSpec spec = DrawSpec(random, scale_up);
  auto built = fabric::Fabric::Build(std::move(spec), DrawNodes(random, cluster, scale_up), {});
  if (!built) {
    std::fprintf(stderr, "%s\n", built.error().message.c_str());
    std::abort();
  }
  RandomInstance instance;
  instance.fabric = std::make_unique<fabric::Fabric>(*std::move(built));
  instance.claims = std::make_unique<fabric::Claims>(*instance.fabric);
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(instance.fabric->node_count())) {
    const std::uint32_t used = DrawUsed(random, cluster.irregular);
    if (used > 0) instance.claims->Add(n, {{kGPU, used}});
  }
  return instance;
}

// Takes a divisor of `left` away from it.
std::int64_t TakeDegree(Draws& random, std::uint32_t& left) {
  std::uint32_t degree = random.Between(1, left);
  while (left % degree != 0) --degree;
  left /= degree;
  return degree;
}

traffic::Parallelism DrawShape(Draws& random, std::uint32_t ranks) {
  traffic::Parallelism shape;
  std::uint32_t left = ranks;
  if (random.Chance(60)) shape.tensor = random.Pick<std::int64_t>({1, 2, 4, 8});
  if (left % shape.tensor != 0) shape.tensor = 1;
  left /= static_cast<std::uint32_t>(shape.tensor);
  if (random.Chance(30)) shape.context = TakeDegree(random, left);
  if (random.Chance(50)) shape.pipeline = TakeDegree(random, left);
  shape.expert_tensor = 1;
  if (random.Chance(25)) shape.expert = TakeDegree(random, left);
  return shape;
}

traffic::Model DrawModel(Draws& random, bool experts) {
  traffic::Model model;
  for (const Axis axis : {Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline}) {
    if (!random.Chance(85)) continue;
    // A tensor axis sends much more than the others.
    const std::int64_t most = axis == Axis::kTensor ? 20'000 : 2'000;
    model.measured.push_back(
        {axis, 1'000'000 * std::int64_t{random.Between(1, static_cast<std::uint32_t>(most))}});
  }
  if (experts) model.measured.push_back({Axis::kExpert, 1'000'000 * std::int64_t{2'000}});
  if (model.measured.empty()) model.measured.push_back({Axis::kData, 1'000'000'000});
  return model;
}

// Levels at which some domain has room for the job, and groups.
void Constrain(Draws& random, const traffic::Parallelism& shape, std::uint32_t per_worker,
               const fabric::ByNode<std::uint32_t>& slots, RandomInstance& instance) {
  objective::Request& request = instance.request;
  const fabric::Fabric& fabric = *instance.fabric;
  fabric::Tier holds = fabric::kOutside;
  for (fabric::Tier t{1}; t < fabric.node_tier(); ++t) {
    const auto& begin = fabric.domains(t).begin;
    for (fabric::DomainIndex d{0}; d + 1 < begin.EndIndex(); ++d) {
      std::uint64_t room = 0;
      for (fabric::NodeIndex n = begin[d]; n < begin[d + 1]; ++n) room += slots[n];
      if (room >= request.workers) holds = t;
    }
  }
  if (holds > fabric::kOutside && random.Chance(25))
    request.required = TierBetween(random, fabric::Tier{1}, holds);
  if (random.Chance(30)) {
    request.preferred =
        TierBetween(random, request.required.value_or(fabric::Tier{1}), fabric.node_tier() - 1);
  }
  if (!random.Chance(30)) return;
  const Axis axis = random.Pick({Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline});
  auto sets = traffic::GroupWorkers(std::vector{axis}, shape, request.workers, per_worker);
  if (!sets) return;
  objective::GroupConstraint group;
  group.sets = *std::move(sets);
  group.preferred = TierBetween(random, fabric::Tier{1}, fabric.node_tier() - 1);
  if (random.Chance(30)) group.required = TierBetween(random, fabric::Tier{1}, *group.preferred);
  request.groups.push_back(std::move(group));
}

// False if the job does not fit, or its degrees do not divide.
bool AddJob(Draws& random, RandomInstance& instance) {
  objective::Request& request = instance.request;
  request = {};
  request.job = "test/job";
  request.workers = random.Between(kFewestWorkers, kMostWorkers);
  const auto per_worker = random.Pick({1U, 2U, 4U, 8U, 8U});
  const traffic::Parallelism shape = DrawShape(random, request.workers * per_worker);
  const traffic::Model model = DrawModel(random, shape.expert > 1);
  auto traffic = traffic::ComputeTraffic(model, shape, request.workers, per_worker);
  if (!traffic) return false;
  instance.traffic = *std::move(traffic);
  instance.graph = std::make_unique<traffic::WorkerGraph>(instance.traffic);
  request.pod.requests = {{kGPU, per_worker}};
  request.grid = traffic::WorkerGrid(shape, request.workers, per_worker);
  if (const auto* ring = traffic::LargestRing(instance.traffic)) request.ring = *ring;
  fabric::ByNode<std::uint32_t> slots;
  rules::CountSlots(
      *instance.claims,
      {.pod = &request.pod, .job = request.job, .excluded = {}, .cap = request.workers}, slots);
  std::uint64_t room = 0;
  for (const std::uint32_t s : slots) room += s;
  if (room < request.workers) return false;
  Constrain(random, shape, per_worker, slots, instance);
  char text[160];
  std::snprintf(text, sizeof text, "%u workers of %u GPUs, t%lld c%lld p%lld e%lld%s%s%s",
                request.workers, per_worker, static_cast<long long>(shape.tensor),
                static_cast<long long>(shape.context), static_cast<long long>(shape.pipeline),
                static_cast<long long>(shape.expert), request.required ? ", required" : "",
                request.preferred ? ", preferred" : "", request.groups.empty() ? "" : ", groups");
  instance.what += text;
  return true;
}

}  // namespace

RandomInstance MakeSmallInstance(const SmallCluster& cluster, std::uint64_t seed) {
  Draws random((seed * 100'000 + cluster.nodes) * 2 + (cluster.irregular ? 1 : 0));
  RandomInstance instance = DrawCluster(random, cluster);
  instance.what = "seed " + std::to_string(seed) + ", " + std::to_string(cluster.nodes) +
                  (cluster.irregular ? " irregular nodes: " : " regular nodes: ");
  while (!AddJob(random, instance)) {
  }
  return instance;
}

}  // namespace weft::quality
