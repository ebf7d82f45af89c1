#include "tests/support/large_clusters.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

namespace weft::testing {

namespace {

constexpr const char* kRailLabel = "rail-";
constexpr int kRails = 8;

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
         family == Family::kCrossing || family == Family::kSpareTrays;
}

// Racks of 18 trays under leaves of a few racks under spines.
LargeCluster MakeRacks(Draws& random, Family family, std::uint32_t count) {
  constexpr std::uint32_t kTrays = 18;
  LargeCluster cluster;
  cluster.gpus = 4;
  cluster.narrow = kTrays;
  const std::uint32_t racks_per_leaf = random.Pick({4U, 8U, 16U});
  const std::uint32_t leaves_per_spine = random.Pick({2U, 4U, 8U});
  const bool crossing = family == Family::kCrossing;
  // GB300 has a network card of 800 Gb/s for each GPU, GB200 one of 400.
  const char* network = family == Family::kSpareTrays ? "InfiniBandXDR" : "InfiniBandNDR";
  cluster.spec.levels = {{"spine", "spine", fabric::Identity::kValue,
                          Link(network, random.Pick<std::int64_t>({100, 200, 300}))},
                         {"leaf", "leaf", fabric::Identity::kValue, Link(network, 100)}};
  cluster.spec.outside = Link(network, random.Pick<std::int64_t>({300, 400, 700}));
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

// RoCE with three times as many ports down as up at the leaves and again at the spines.
void Taper(LargeCluster& cluster) {
  cluster.gpus = GPUsANode(Family::kTapered);
  cluster.spec.levels[0].link = Link("RoCE400", 300);
  cluster.spec.levels[1].link = Link("RoCE400", 100);
  cluster.spec.outside = Link("RoCE400", 900);
}

LargeCluster MakeTree(Draws& random, Family family, std::uint32_t count) {
  LargeCluster cluster;
  const std::uint32_t per_leaf = random.Pick({16U, 32U, 32U, 64U});
  const std::uint32_t leaves_per_spine = random.Pick({4U, 8U, 16U});
  cluster.narrow = per_leaf;
  cluster.spec.levels = {{"spine", "spine", fabric::Identity::kValue,
                          Link("InfiniBandNDR", random.Pick<std::int64_t>({100, 200, 300}))},
                         {"leaf", "leaf", fabric::Identity::kValue, Link("InfiniBandNDR", 100)}};
  cluster.spec.outside = Link("InfiniBandNDR", random.Pick<std::int64_t>({300, 400, 700}));
  cluster.spec.node_link = Link(family == Family::kMI300XRails ? "xGMIMI300X" : "NVLink4", 100);
  if (family == Family::kTapered) Taper(cluster);
  const bool rails = family == Family::kRails || family == Family::kMI300XRails;
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

// Hosts along each dimension of a torus of TPU v5p, whose cubes have 2 x 2 x 4 hosts of 4 chips. A
// pod has 8 x 10 x 28 hosts; larger ones do not exist, but show what jobs of thousands of hosts
// need.
using Hosts = std::array<std::uint32_t, 3>;
constexpr Hosts kCube = {2, 2, 4};
constexpr Hosts kToruses[] = {{8, 8, 16}, {8, 10, 28}, {16, 20, 28}, {16, 40, 28}};

std::uint32_t Count(const Hosts& hosts) { return hosts[0] * hosts[1] * hosts[2]; }

// The largest torus of at most so many hosts.
const Hosts& TorusFor(std::uint32_t count) {
  const Hosts* best = &kToruses[0];
  for (const Hosts& hosts : kToruses) {
    if (Count(hosts) <= count) best = &hosts;
  }
  return *best;
}

LargeCluster MakeTorus(std::uint32_t count) {
  const Hosts& hosts = TorusFor(count);
  LargeCluster cluster;
  cluster.gpus = GPUsANode(Family::kTorus);
  cluster.narrow = Count(kCube);
  // 200 Gb/s of the data centre's network for the four chips of a host.
  fabric::LinkSpec ethernet = Link("Ethernet", 100);
  ethernet.bandwidth_per_gpu = 25'000'000'000 / 4;
  cluster.spec.levels = {{"cube", "cube", fabric::Identity::kValue, ethernet}};
  cluster.spec.outside = ethernet;
  cluster.spec.node_link = Link("ICIv5p", 100);
  fabric::TorusSpec torus;
  torus.link = Link("ICIv5p", 100);
  constexpr std::array<const char*, 3> kLabels = {"torus-x", "torus-y", "torus-z"};
  for (std::size_t d = 0; d < 3; ++d) torus.dimensions.push_back({kLabels[d], hosts[d], true});
  cluster.spec.torus = std::move(torus);
  for (std::uint32_t i = 0; i < Count(hosts); ++i) {
    fabric::NodeFacts node;
    node.name = Padded("host-", i);
    std::uint32_t in_cube = i % Count(kCube), cube = i / Count(kCube);
    node.labels.Set("cube", Padded("cube-", cube));
    for (std::size_t d = 0; d < 3; ++d) {
      const std::uint32_t cubes = hosts[d] / kCube[d];
      node.labels.Set(kLabels[d], std::to_string(cube % cubes * kCube[d] + in_cube % kCube[d]));
      cube /= cubes;
      in_cube /= kCube[d];
    }
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

std::vector<std::int64_t> UsedByJobs(Draws& random, const LargeCluster& cluster, Family family,
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
  return used;
}

// Trays kept aside: the last one or two of most racks.
std::uint32_t TraysAside(Family family, std::uint32_t rack) {
  if (family == Family::kSpareTrays) return 2;
  if (family != Family::kUnevenRacks) return 0;
  return rack % 4 == 0 ? 0 : rack % 3 == 0 ? 1 : 2;
}

// Each node has 1 to 8 free GPUs: what many small jobs leave behind.
std::vector<std::int64_t> UsedUnevenly(Draws& random, const LargeCluster& cluster) {
  std::vector<std::int64_t> used(cluster.nodes.size());
  for (std::int64_t& gpus : used) {
    gpus = random.Between(0, static_cast<std::uint32_t>(cluster.gpus) - 1);
  }
  return used;
}

// Whole cubes, or single hosts, or both.
std::vector<std::int64_t> UsedOfTorus(Draws& random, const LargeCluster& cluster,
                                      std::uint32_t percent) {
  const auto count = static_cast<std::uint32_t>(cluster.nodes.size());
  std::vector<std::int64_t> used(count, 0);
  const std::uint32_t cubes = random.Pick({0U, 5U, 100U});  // percent of draws
  const std::int64_t target = static_cast<std::int64_t>(count) * cluster.gpus * percent / 100;
  for (std::int64_t sum = 0; sum < target;) {
    std::uint32_t begin = random.Between(0, count - 1), length = 1;
    if (random.Chance(cubes)) {
      begin -= begin % cluster.narrow;
      length = cluster.narrow;
    }
    for (std::uint32_t n = begin; n < begin + length; ++n) {
      sum += cluster.gpus - used[n];
      used[n] = cluster.gpus;
    }
  }
  return used;
}

}  // namespace

std::uint32_t GPUsANode(Family family) {
  return OnRacks(family) || family == Family::kTapered || family == Family::kTorus ? 4 : 8;
}

LargeCluster MakeLargeCluster(Draws& random, Family family, std::uint32_t count) {
  if (OnRacks(family)) return MakeRacks(random, family, count);
  if (family == Family::kTorus) return MakeTorus(count);
  return MakeTree(random, family, count);
}

std::vector<std::int64_t> UsedGPUs(Draws& random, const LargeCluster& cluster, Family family,
                                   std::uint32_t percent) {
  if (family == Family::kMixedFree) return UsedUnevenly(random, cluster);
  if (family == Family::kTorus) return UsedOfTorus(random, cluster, percent);
  std::vector<std::int64_t> used = UsedByJobs(random, cluster, family, percent);
  for (std::uint32_t n = 0; n < used.size(); ++n) {
    const std::uint32_t aside = TraysAside(family, n / cluster.narrow);
    if (n % cluster.narrow + aside >= cluster.narrow) used[n] = cluster.gpus;
  }
  return used;
}

}  // namespace weft::testing
