#include "tests/support/random_instance.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "operator/traffic/worker_grid.h"
#include "operator/traffic/worker_sets.h"

namespace weft::testing {

namespace {

constexpr std::int64_t kGPUs = 8;
constexpr const char* kGPU = "nvidia.com/gpu";

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint32_t Below(std::uint32_t n) { return static_cast<std::uint32_t>(Next() % n); }
  std::uint32_t Between(std::uint32_t low, std::uint32_t high) {
    return low + Below(high - low + 1);
  }
  bool Chance(std::uint32_t percent) { return Below(100) < percent; }
  template <typename T>
  T Pick(const std::vector<T>& from) {
    return from[Below(static_cast<std::uint32_t>(from.size()))];
  }

 private:
  std::uint64_t state_;
};

fabric::LinkSpec Link(std::int64_t bandwidth, std::int64_t oversubscription) {
  fabric::LinkSpec link;
  link.bandwidth_per_gpu = bandwidth;
  link.oversubscription_percent = oversubscription;
  return link;
}

fabric::FabricSpec RandomSpec(Random& random, bool scale_up) {
  fabric::FabricSpec spec;
  spec.levels = {
      {"spine", "spine", fabric::Identity::kValue, Link(50'000'000'000, random.Between(100, 400))},
      {"leaf", "leaf", fabric::Identity::kValue, Link(50'000'000'000, 100)}};
  spec.outside = Link(25'000'000'000, random.Between(100, 700));
  spec.node_link = Link(450'000'000'000, 100);
  if (scale_up) {
    spec.scale_up = fabric::ScaleUpSpec{"nvlink", "clique", Link(450'000'000'000, 100),
                                        fabric::ScaleUpRequires::kNothing};
  }
  return spec;
}

std::vector<fabric::NodeFacts> RandomNodes(Random& random, const RandomOptions& options,
                                           bool scale_up) {
  const std::uint32_t count = random.Between(2, options.most_nodes);
  const std::uint32_t leaves = random.Between(1, std::min(4U, count));
  const std::uint32_t spines = random.Between(1, std::min(2U, leaves));
  const bool crossing = options.crossing && random.Chance(30);
  std::vector<fabric::NodeFacts> nodes;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t leaf = random.Below(leaves);
    fabric::NodeFacts node;
    // Names in no order that the tree knows.
    node.name = "n" + std::to_string(random.Below(900) + 100) + "-" + std::to_string(i);
    node.labels.Set("leaf", "leaf" + std::to_string(leaf));
    node.labels.Set("spine", "spine" + std::to_string(leaf % spines));
    if (scale_up && random.Chance(85)) {
      node.labels.Set(
          "clique", crossing ? "c" + std::to_string(random.Below(2))
                             : "c" + std::to_string(leaf) + "-" + std::to_string(random.Below(2)));
    }
    node.allocatable = {{kGPU, kGPUs}, {"pods", 110}};
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// Planes cheaper than the narrowest level, between two levels, or no cheaper than any.
void AddPlanes(Random& random, fabric::FabricSpec& spec, std::vector<fabric::NodeFacts>& nodes) {
  const std::uint32_t count = random.Between(1, 2);
  for (std::uint32_t p = 0; p < count; ++p) {
    const std::string name = "plane-" + std::to_string(p);
    const auto rate = random.Pick<std::int64_t>({200, 60, 40, 20, 5}) * 1'000'000'000;
    spec.planes.push_back({name, name, Link(rate, 100)});
    const std::uint32_t domains = random.Between(1, 4);
    for (fabric::NodeFacts& node : nodes) {
      if (random.Chance(80)) {
        node.labels.Set(name, "p" + std::to_string(random.Below(domains)));
      }
    }
  }
}

// Places for the nodes, each its own, in a torus with some room to spare, whose hops cost from much
// less to more than the levels.
void AddTorus(Random& random, fabric::FabricSpec& spec, std::vector<fabric::NodeFacts>& nodes) {
  fabric::TorusSpec torus;
  torus.link = Link(random.Pick<std::int64_t>({600, 100, 40, 20}) * 1'000'000'000, 100);
  if (random.Chance(30)) torus.level = "spine";
  std::vector<std::uint32_t> sizes;
  std::uint32_t places = 1;
  while (places < nodes.size()) {
    if (sizes.size() < fabric::kTorusDimensions && (sizes.empty() || random.Chance(70))) {
      sizes.push_back(random.Between(1, 4));
    } else {
      ++sizes[random.Below(static_cast<std::uint32_t>(sizes.size()))];
    }
    places = 1;
    for (const std::uint32_t size : sizes) places *= size;
  }
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    torus.dimensions.push_back({"torus-" + std::to_string(d), sizes[d], random.Chance(70)});
  }
  std::vector<std::uint32_t> order(places);
  for (std::uint32_t p = 0; p < places; ++p) order[p] = p;
  for (std::uint32_t i = places; i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  // The torus of one spine is longer, and has the sizes of the other in the opposite order.
  const std::string other = "spine1";
  if (!torus.level.empty() && random.Chance(50)) {
    std::vector<std::uint32_t> opposite(sizes.rbegin(), sizes.rend());
    ++opposite.front();
    torus.shapes.push_back({{other}, std::move(opposite), {}});
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const bool differs = !torus.shapes.empty() && nodes[n].labels.At("spine") == other;
    std::uint32_t rest = order[n];
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const std::uint32_t size = differs ? torus.shapes.front().sizes[d] : sizes[d];
      nodes[n].labels.Set(torus.dimensions[d].label_key, std::to_string(rest % size));
      rest /= size;
    }
  }
  spec.torus = std::move(torus);
}

traffic::Parallelism RandomShape(Random& random, std::uint32_t ranks) {
  traffic::Parallelism shape;
  std::uint32_t left = ranks;
  const auto degree = [&] {
    std::vector<std::uint32_t> divisors;
    for (std::uint32_t d = 1; d <= left; ++d) {
      if (left % d == 0) divisors.push_back(d);
    }
    const std::uint32_t chosen = random.Pick(divisors);
    left /= chosen;
    return static_cast<std::int64_t>(chosen);
  };
  if (random.Chance(60)) shape.tensor = degree();
  if (random.Chance(30)) shape.context = degree();
  if (random.Chance(60)) shape.pipeline = degree();
  using traffic::Axis;
  std::vector<Axis> axes = {Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline};
  if (random.Chance(40)) {
    for (std::size_t i = axes.size() - 1; i > 0; --i) {
      std::swap(axes[i], axes[random.Below(static_cast<std::uint32_t>(i) + 1)]);
    }
  }
  std::copy(axes.begin(), axes.end(), shape.rank_order.begin());
  return shape;
}

traffic::Model RandomModel(Random& random) {
  traffic::Model model;
  using traffic::Axis;
  for (Axis axis : {Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline}) {
    if (random.Chance(80)) {
      model.measured.push_back({axis, static_cast<std::int64_t>(random.Between(1, 2000)) * 1000});
    }
  }
  if (model.measured.empty()) model.measured.push_back({Axis::kData, 1000});
  return model;
}

void Constrain(Random& random, const traffic::Parallelism& shape, RandomInstance& instance) {
  objective::Request& request = instance.request;
  const fabric::Tier last = instance.fabric->node_tier();
  if (random.Chance(20)) request.required = TierBetween(random, fabric::Tier{1}, last - 1);
  if (random.Chance(30)) {
    request.preferred = TierBetween(random, request.required.value_or(fabric::Tier{1}), last - 1);
  }
  using traffic::Axis;
  const std::vector<std::vector<Axis>> choices = {
      {Axis::kTensor}, {Axis::kData}, {Axis::kPipeline}, {Axis::kTensor, Axis::kContext}};
  for (std::uint32_t g = 0; g < 2; ++g) {
    if (!random.Chance(25)) continue;
    objective::GroupConstraint group;
    auto sets = traffic::GroupWorkers(random.Pick(choices), shape, request.workers,
                                      instance.traffic.per_worker);
    if (!sets) continue;
    group.sets = *sets;
    if (random.Chance(40)) group.required = TierBetween(random, fabric::Tier{1}, last - 1);
    if (!group.required || random.Chance(50)) {
      group.preferred = TierBetween(random, group.required.value_or(fabric::Tier{1}), last);
    }
    request.groups.push_back(std::move(group));
  }
}

template <typename T>
T Take(Result<T> result, const char* what) {
  if (!result) {
    std::cerr << what << ": " << result.error().message << "\n";
    std::abort();
  }
  return *std::move(result);
}

}  // namespace

RandomInstance MakeRandomInstance(std::uint64_t seed, const RandomOptions& options) {
  Random random(seed);
  RandomInstance instance;
  const bool scale_up = random.Chance(50);
  std::vector<fabric::NodeFacts> nodes = RandomNodes(random, options, scale_up);
  fabric::FabricSpec spec = RandomSpec(random, scale_up);
  if (options.flat) {
    for (fabric::LevelSpec& level : spec.levels) level.link = spec.levels.back().link;
    spec.outside = spec.levels.back().link;
  }
  if (options.planes) AddPlanes(random, spec, nodes);
  if (options.torus) AddTorus(random, spec, nodes);
  instance.fabric = std::make_unique<fabric::Fabric>(
      Take(fabric::Fabric::Build(std::move(spec), std::move(nodes), {}), "fabric"));
  instance.claims = std::make_unique<fabric::Claims>(*instance.fabric);
  const auto per_worker = random.Pick<std::uint32_t>({2, 4, 8});
  std::uint32_t slots = 0;
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(instance.fabric->node_count())) {
    const std::int64_t used = random.Chance(50) ? random.Below(kGPUs) : 0;
    if (used > 0) instance.claims->Add(n, {{kGPU, used}});
    slots += static_cast<std::uint32_t>((kGPUs - used) / per_worker);
  }
  std::uint32_t workers = random.Between(options.fewest_workers, options.most_workers);
  workers = std::max(1U, std::min(workers, std::max(1U, slots)));
  traffic::Parallelism shape = RandomShape(random, workers * per_worker);
  std::optional<traffic::Model> model;
  if (random.Chance(90)) model = RandomModel(random);
  if (options.only_data) {
    shape = {};
    model = traffic::Model{{}, {{traffic::Axis::kData, 1'000'000}}};
  }
  instance.traffic = Take(traffic::ComputeTraffic(model, shape, workers, per_worker), "traffic");
  instance.graph = std::make_unique<traffic::WorkerGraph>(instance.traffic);
  instance.request.job = "test/job";
  instance.request.workers = workers;
  instance.request.pod.requests = {{kGPU, per_worker}};
  instance.request.grid = traffic::WorkerGrid(shape, workers, per_worker);
  if (const auto* ring = traffic::LargestRing(instance.traffic)) instance.request.ring = *ring;
  if (options.constraints) Constrain(random, shape, instance);
  instance.what = "seed " + std::to_string(seed) + ": " + std::to_string(workers) + " workers of " +
                  std::to_string(per_worker) + " on " +
                  std::to_string(instance.fabric->node_count()) + " nodes";
  return instance;
}

}  // namespace weft::testing
