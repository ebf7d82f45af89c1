#include "tests/support/any_instance.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/random.h"
#include "operator/fabric/pools.h"
#include "operator/traffic/worker_grid.h"
#include "operator/traffic/worker_sets.h"

namespace weft::testing {

namespace {

using fabric::FabricSpec;
using fabric::NodeFacts;
using traffic::Axis;

constexpr const char* kGPU = "nvidia.com/gpu";
constexpr const char* kProduct = "nvidia.com/gpu.product";
constexpr std::int64_t kGPUs = 8;
constexpr std::uint32_t kRails = 4;
constexpr double kPeakWatts = 1'000;  // of one GPU, for power limits
constexpr std::int64_t kWatts = static_cast<std::int64_t>(kPeakWatts);

class Random {
 public:
  explicit Random(std::uint64_t seed) : numbers_(seed) {}
  std::uint32_t Below(std::uint32_t count) {
    return static_cast<std::uint32_t>(numbers_.Below(count));
  }
  std::uint32_t Between(std::uint32_t low, std::uint32_t high) {
    return low + Below(high - low + 1);
  }
  // Small numbers as often as large ones: the number of digits is drawn first.
  std::uint32_t Skewed(std::uint32_t low, std::uint32_t high) {
    std::uint32_t most = low;
    while (most < high && Chance(75)) most = std::min(high, most * 2);
    return Between(low, std::max(low, most));
  }
  bool Chance(std::uint32_t percent) { return numbers_.Below(100) < percent; }
  template <typename T>
  T Pick(std::initializer_list<T> from) {
    return from.begin()[numbers_.Below(from.size())];
  }

 private:
  SplitMix64 numbers_;
};

template <typename T>
T Take(Result<T> result, const char* what) {
  if (!result) {
    std::cerr << what << ": " << result.error().message << "\n";
    std::abort();
  }
  return *std::move(result);
}

fabric::LinkSpec Link(Random& random, std::int64_t gigabytes) {
  fabric::LinkSpec link;
  link.bandwidth_per_gpu = gigabytes * 1'000'000'000;
  link.oversubscription_percent = random.Pick<std::int64_t>({100, 100, 200, 300, 700});
  return link;
}

struct Cluster {
  FabricSpec spec;
  std::vector<NodeFacts> nodes;
};

// Domains of regular size with an irregular last one, or of any size.
std::vector<std::uint32_t> Divide(Random& random, std::uint32_t count, std::uint32_t size) {
  std::vector<std::uint32_t> of;
  const bool ragged = random.Chance(40);
  for (std::uint32_t domain = 0; of.size() < count; ++domain) {
    const std::uint32_t length = ragged ? random.Between(1, 2 * size) : size;
    of.insert(of.end(), std::min<std::size_t>(length, count - of.size()), domain);
  }
  return of;
}

void AddLevels(Random& random, Cluster& cluster) {
  const auto count = static_cast<std::uint32_t>(cluster.nodes.size());
  static constexpr const char* kNames[] = {"spine", "leaf", "rack"};
  const std::uint32_t levels = random.Between(0, 3);
  std::vector<std::uint32_t> below(count);
  for (std::uint32_t n = 0; n < count; ++n) below[n] = n;
  std::vector<fabric::LevelSpec> narrowest_first;
  std::int64_t gigabytes = random.Pick<std::int64_t>({400, 100, 50});
  for (std::uint32_t l = levels; l-- > 0;) {
    const std::uint32_t size = random.Pick({2U, 3U, 4U, 8U, 16U, 18U});
    const std::vector<std::uint32_t> of = Divide(random, below.back() + 1, size);
    for (std::uint32_t n = 0; n < count; ++n) {
      below[n] = of[below[n]];
      cluster.nodes[n].labels.Set(kNames[l], kNames[l] + std::to_string(below[n]));
    }
    fabric::LevelSpec level{kNames[l], kNames[l], fabric::Identity::kValue,
                            Link(random, gigabytes)};
    if (random.Chance(10)) {
      level.power_watts = static_cast<std::int64_t>(size) * random.Between(1, 8) * kWatts;
    }
    narrowest_first.push_back(std::move(level));
    if (random.Chance(60)) gigabytes = std::max<std::int64_t>(1, gigabytes / random.Between(1, 4));
  }
  cluster.spec.levels.assign(narrowest_first.rbegin(), narrowest_first.rend());
  cluster.spec.outside = Link(random, gigabytes);
  cluster.spec.node_link = Link(random, random.Pick<std::int64_t>({450, 900}));
  cluster.spec.node_link->oversubscription_percent = 100;
}

void AddScaleUp(Random& random, Cluster& cluster) {
  const auto count = static_cast<std::uint32_t>(cluster.nodes.size());
  const std::vector<std::uint32_t> of = Divide(random, count, random.Pick({2U, 4U, 9U, 18U}));
  const bool by_level = random.Chance(50) && !cluster.spec.levels.empty();
  for (std::uint32_t n = 0; n < count; ++n) {
    if (random.Chance(5)) continue;
    std::string clique = "c" + std::to_string(of[n]);
    if (by_level) {  // nests in the narrowest level
      const auto domain = cluster.nodes[n].labels.At(cluster.spec.levels.back().label_key);
      clique += "-" + std::string(domain.value_or(""));
    }
    cluster.nodes[n].labels.Set("clique", clique);
  }
  cluster.spec.scale_up =
      fabric::ScaleUpSpec{"nvlink", "clique", Link(random, 450), fabric::ScaleUpRequires::kNothing};
}

void AddPlanes(Random& random, Cluster& cluster) {
  const std::uint32_t planes = random.Between(1, 2);
  for (std::uint32_t p = 0; p < planes; ++p) {
    const std::string name = "plane-" + std::to_string(p);
    cluster.spec.planes.push_back(
        {name, name, Link(random, random.Pick<std::int64_t>({200, 60, 40, 5}))});
    const std::uint32_t domains = random.Between(1, 6);
    for (NodeFacts& node : cluster.nodes) {
      if (random.Chance(80)) node.labels.Set(name, "p" + std::to_string(random.Below(domains)));
    }
  }
}

// Sizes with at least `least` places.
std::vector<std::uint32_t> DrawSizes(Random& random, std::uint32_t dimensions,
                                     std::uint32_t least) {
  std::vector<std::uint32_t> sizes(dimensions, 1);
  for (std::uint32_t places = 1; places < least;) {
    ++sizes[random.Below(dimensions)];
    places = 1;
    for (const std::uint32_t size : sizes) places *= size;
  }
  return sizes;
}

// Gives nodes[k] the k-th place from `first` on.
void LabelPlaces(const std::vector<NodeFacts*>& nodes, const std::vector<std::uint32_t>& sizes,
                 std::uint32_t first) {
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    std::uint32_t rest = first + static_cast<std::uint32_t>(n);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      nodes[n]->labels.Set("torus-" + std::to_string(d), std::to_string(rest % sizes[d]));
      rest /= sizes[d];
    }
  }
}

// A torus for each domain of a level, of up to four shapes.
void AddToruses(Random& random, Cluster& cluster) {
  fabric::TorusSpec torus;
  torus.link = Link(random, random.Pick<std::int64_t>({600, 100, 40}));
  const auto levels = static_cast<std::uint32_t>(cluster.spec.levels.size());
  torus.level = cluster.spec.levels[random.Below(levels)].name;
  std::map<std::string, std::vector<NodeFacts*>> domains;
  std::size_t largest = 0;
  for (NodeFacts& node : cluster.nodes) {
    auto& nodes = domains[std::string(node.labels.At(torus.level).value_or(""))];
    nodes.push_back(&node);
    largest = std::max(largest, nodes.size());
  }
  const std::uint32_t dimensions = random.Between(1, fabric::kTorusDimensions);
  const auto draw = [&] {
    return DrawSizes(random, dimensions, static_cast<std::uint32_t>(largest));
  };
  for (const std::uint32_t size : draw()) {
    const std::string key = "torus-" + std::to_string(torus.dimensions.size());
    torus.dimensions.push_back({key, size, random.Chance(70)});
  }
  torus.shapes.resize(random.Between(1, 3));
  for (fabric::TorusShapeSpec& shape : torus.shapes) {
    shape.sizes = draw();
    for (std::uint32_t d = 0; d < dimensions; ++d) shape.wraps.push_back(random.Chance(70));
  }
  const auto shapes = static_cast<std::uint32_t>(torus.shapes.size());
  for (const auto& [name, nodes] : domains) {
    std::vector<std::uint32_t> sizes;
    for (const fabric::TorusDimension& dimension : torus.dimensions) {
      sizes.push_back(dimension.size);
    }
    if (const std::uint32_t s = random.Below(shapes + 1); s < shapes) {
      fabric::TorusShapeSpec& shape = torus.shapes[s];
      if (shape.domains.size() < fabric::kMostDomainsOfShape) {
        shape.domains.push_back(name);
        sizes = shape.sizes;
      }
    }
    LabelPlaces(nodes, sizes, 0);
  }
  std::erase_if(torus.shapes, [](const auto& shape) { return shape.domains.empty(); });
  cluster.spec.torus = std::move(torus);
}

void AddTorus(Random& random, Cluster& cluster) {
  fabric::TorusSpec torus;
  torus.link = Link(random, random.Pick<std::int64_t>({600, 100, 40}));
  std::vector<std::uint32_t> sizes(random.Between(1, fabric::kTorusDimensions), 1);
  std::uint32_t places = 1;
  while (places < cluster.nodes.size()) {
    ++sizes[random.Below(static_cast<std::uint32_t>(sizes.size()))];
    places = 1;
    for (const std::uint32_t size : sizes) places *= size;
  }
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    torus.dimensions.push_back({"torus-" + std::to_string(d), sizes[d], random.Chance(70)});
  }
  const std::uint32_t first =
      random.Below(places - static_cast<std::uint32_t>(cluster.nodes.size()) + 1);
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    std::uint32_t rest = first + static_cast<std::uint32_t>(n);
    for (const fabric::TorusDimension& dimension : torus.dimensions) {
      cluster.nodes[n].labels.Set(dimension.label_key, std::to_string(rest % dimension.size));
      rest /= dimension.size;
    }
  }
  cluster.spec.torus = std::move(torus);
}

void AddRails(Random& random, Cluster& cluster) {
  fabric::RailsSpec rails{static_cast<int>(kRails), {}};
  for (std::uint32_t r = 0; r < kRails; ++r) {
    rails.leaf_label_keys.push_back("rail-" + std::to_string(r));
  }
  const std::string narrowest = cluster.spec.levels.back().label_key;
  for (NodeFacts& node : cluster.nodes) {
    const std::string leaf(node.labels.At(narrowest).value_or(""));
    const std::uint32_t missing = random.Chance(5) ? random.Between(1, kRails - 1) : 0;
    for (std::uint32_t r = missing; r < kRails; ++r) {
      node.labels.Set("rail-" + std::to_string(r), leaf + "-" + std::to_string(r));
    }
  }
  cluster.spec.levels.back().label_key.clear();  // the rails say it
  cluster.spec.rails = std::move(rails);
}

Cluster DrawCluster(Random& random, std::uint32_t most_nodes) {
  Cluster cluster;
  const std::uint32_t count = random.Skewed(4, most_nodes);
  for (std::uint32_t i = 0; i < count; ++i) {
    NodeFacts node;
    node.name = "n" + std::to_string(random.Below(900) + 100) + "-" + std::to_string(i);
    node.allocatable = {{kGPU, kGPUs}, {"pods", 110}};
    cluster.nodes.push_back(std::move(node));
  }
  AddLevels(random, cluster);
  if (random.Chance(40)) AddScaleUp(random, cluster);
  if (random.Chance(15)) AddPlanes(random, cluster);
  const bool torus = random.Chance(12);
  if (torus && !cluster.spec.levels.empty() && random.Chance(50)) {
    AddToruses(random, cluster);
  } else if (torus) {
    AddTorus(random, cluster);
  }
  if (!torus && !cluster.spec.levels.empty() && random.Chance(10)) AddRails(random, cluster);
  if (random.Chance(25)) {
    for (NodeFacts& node : cluster.nodes) {
      node.labels.Set(kProduct, random.Chance(60) ? "NVIDIA-H100-80GB-HBM3" : "NVIDIA-H200");
    }
  }
  return cluster;
}

traffic::Parallelism DrawShape(Random& random, std::uint32_t ranks) {
  traffic::Parallelism shape;
  std::uint32_t left = ranks;
  const auto degree = [&] {
    std::vector<std::uint32_t> divisors;
    for (std::uint32_t d = 1; d <= left; ++d) {
      if (left % d == 0) divisors.push_back(d);
    }
    // Mostly neither 1 nor all, so that groups and tiles are made of several workers.
    const auto last = static_cast<std::uint32_t>(divisors.size()) - 1;
    const bool inner = last > 1 && random.Chance(75);
    const std::uint32_t chosen =
        divisors[inner ? random.Between(1, std::min(last - 1, 4U)) : random.Between(0, last)];
    left /= chosen;
    return static_cast<std::int64_t>(chosen);
  };
  if (random.Chance(60)) shape.tensor = degree();
  if (random.Chance(30)) shape.context = degree();
  if (random.Chance(50)) shape.pipeline = degree();
  if (random.Chance(40)) {
    shape.expert_tensor = 1;
    left = ranks / static_cast<std::uint32_t>(shape.pipeline);
    shape.expert = degree();
  }
  if (random.Chance(20)) shape.sharding = traffic::Sharding::kFull;
  std::vector<Axis> axes = {Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline};
  for (std::size_t i = axes.size() - 1; i > 0 && random.Chance(30); --i) {
    std::swap(axes[i], axes[random.Below(static_cast<std::uint32_t>(i) + 1)]);
  }
  std::copy(axes.begin(), axes.end(), shape.rank_order.begin());
  return shape;
}

traffic::Model DrawModel(Random& random) {
  traffic::Model model;
  for (Axis axis : {Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline, Axis::kExpert}) {
    if (!random.Chance(75)) continue;
    model.measured.push_back({axis, std::int64_t{1000} << random.Below(24)});
  }
  if (model.measured.empty()) model.measured.push_back({Axis::kData, 1000});
  return model;
}

void AddRules(Random& random, const traffic::Parallelism& shape, RandomInstance& instance) {
  objective::Request& request = instance.request;
  const fabric::Tier last = instance.fabric->node_tier();
  if (last > fabric::Tier{1} && random.Chance(40))
    request.required = TierBetween(random, fabric::Tier{1}, last - 1);
  if (last > fabric::Tier{1} && random.Chance(40)) {
    request.preferred = TierBetween(random, request.required.value_or(fabric::Tier{1}), last - 1);
  }
  // Several homes, of which some have the slots but no room for whole groups.
  const bool gaps = last > fabric::Tier{2} && random.Chance(25);
  if (gaps) request.required = fabric::Tier{1};
  for (int g = 0; g < 3; ++g) {
    if (!random.Chance(g == 0 ? 60 : 25) && !(gaps && g == 0)) continue;
    std::vector<Axis> axes = {
        random.Pick({Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline, Axis::kExpert})};
    if (random.Chance(30) && axes.front() != Axis::kTensor) axes.push_back(Axis::kTensor);
    auto sets = traffic::GroupWorkers(axes, shape, request.workers, instance.traffic.per_worker);
    if (!sets) continue;
    objective::GroupConstraint group;
    group.sets = *std::move(sets);
    if (random.Chance(50)) group.required = TierBetween(random, fabric::Tier{1}, last);
    if (gaps) group.required = TierBetween(random, last - 1, last);
    if (!group.required || random.Chance(50)) {
      group.preferred = TierBetween(random, group.required.value_or(fabric::Tier{1}), last);
    }
    request.groups.push_back(std::move(group));
  }
}

void AddHistory(Random& random, RandomInstance& instance) {
  objective::Request& request = instance.request;
  const std::uint32_t count = instance.fabric->node_count();
  if (random.Chance(25)) {  // a restart; some of the old nodes are gone
    const std::uint32_t had = random.Chance(80) ? request.workers : random.Between(1, 200);
    const std::uint32_t first = random.Below(count);
    for (std::uint32_t w = 0; w < had; ++w) {
      const std::uint32_t n = random.Chance(70) ? (first + w) % count : random.Below(count + 1);
      request.previous_nodes.push_back(n < count ? fabric::NodeIndex{n} : objective::kUnplaced);
    }
  }
  for (fabric::NodeIndex n{0}; random.Chance(15) && n.Raw() < count; ++n) {
    if (random.Chance(10)) request.excluded.push_back(n);
  }
}

void AddProducts(Random& random, RandomInstance& instance) {
  const auto pools = instance.fabric->pools().EndIndex();
  if (pools < fabric::PoolIndex{2} || random.Chance(20)) return;
  instance.request.pool_choices.emplace();
  for (fabric::PoolIndex p{0}; p < pools; ++p) {
    instance.request.pool_choices->push_back({"pool", {p}, random.Below(2)});
  }
  std::stable_sort(instance.request.pool_choices->begin(), instance.request.pool_choices->end(),
                   [](const auto& a, const auto& b) { return a.rank < b.rank; });
}

std::uint32_t FillNodes(Random& random, std::uint32_t per_worker, RandomInstance& instance) {
  std::uint32_t slots = 0;
  std::uint32_t busy = 0;                                    // percent of the nodes
  bool parts = false;                                        // whether nodes are used in part
  const std::uint32_t region = random.Pick({4U, 16U, 64U});  // nodes that are used alike
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(instance.fabric->node_count())) {
    if (n.Raw() % region == 0) {
      busy = random.Pick({0U, 20U, 50U, 80U});
      parts = random.Chance(50);
    }
    std::int64_t used = 0;
    if (random.Chance(busy)) used = parts ? random.Between(1, kGPUs) : kGPUs;
    if (used > 0) instance.claims->Add(n, {{kGPU, used}});
    slots += static_cast<std::uint32_t>(kGPUs - used) / per_worker;
  }
  return slots;
}

}  // namespace

RandomInstance MakeAnyInstance(std::uint64_t seed, const AnyOptions& options) {
  Random random(seed);
  RandomInstance instance;
  Cluster cluster = DrawCluster(random, options.most_nodes);
  fabric::Fabric::Options build;
  build.refuse_inconsistent = false;
  build.peak_watts = [](std::string_view) { return kPeakWatts; };
  instance.fabric = std::make_unique<fabric::Fabric>(Take(
      fabric::Fabric::Build(std::move(cluster.spec), std::move(cluster.nodes), build), "fabric"));
  instance.claims = std::make_unique<fabric::Claims>(*instance.fabric);
  const std::uint32_t per_worker = random.Pick({1U, 2U, 4U, 8U, 8U, 8U});
  const std::uint32_t slots = FillNodes(random, per_worker, instance);
  std::uint32_t workers =
      random.Chance(40) ? random.Skewed(1, 16) : random.Between(16, options.most_workers);
  // Often much smaller than the cluster, so that several domains could hold it.
  if (random.Chance(60)) workers = std::max(1U, std::min(workers, slots / random.Between(2, 6)));
  if (workers > slots && random.Chance(95)) workers = std::max(1U, slots);  // 5 %: too large
  if (workers > 4 && random.Chance(75)) {  // counts with many divisors
    workers -= workers % random.Pick({2U, 4U, 6U, 8U, 12U, 16U});
  }
  workers = std::max(1U, workers);
  const traffic::Parallelism shape = DrawShape(random, workers * per_worker);
  std::optional<traffic::Model> model;
  if (random.Chance(90)) model = DrawModel(random);
  auto traffic = traffic::ComputeTraffic(model, shape, workers, per_worker);
  // Degrees that do not divide are a user's error, told before anything is placed.
  instance.traffic =
      traffic ? *std::move(traffic)
              : Take(traffic::ComputeTraffic(std::nullopt, {}, workers, per_worker), "one ring");
  instance.graph = std::make_unique<traffic::WorkerGraph>(instance.traffic);
  instance.request.job = "test/job";
  instance.request.workers = workers;
  instance.request.pod.requests = {{kGPU, per_worker}};
  instance.request.grid = traffic::WorkerGrid(shape, workers, per_worker);
  if (const auto* ring = traffic::LargestRing(instance.traffic);
      ring != nullptr && instance.fabric->nested_scale_up()) {
    instance.request.ring = *ring;
  }
  AddRules(random, shape, instance);
  AddHistory(random, instance);
  AddProducts(random, instance);
  instance.what = "seed " + std::to_string(seed) + ": " + std::to_string(workers) + " workers of " +
                  std::to_string(per_worker) + " on " +
                  std::to_string(instance.fabric->node_count()) + " nodes";
  return instance;
}

}  // namespace weft::testing
