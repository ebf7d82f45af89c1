#include "operator/designs/fleet_recipe.h"

#include <array>
#include <utility>

#include "operator/base/check.h"
#include "operator/import/imported_cluster.h"

namespace weft::designs {
namespace {

using fabric::LinkSpec;

constexpr const char* kTier0 = "fabric.topograph.run/tier-0";
constexpr const char* kTier1 = "fabric.topograph.run/tier-1";
constexpr const char* kTier2 = "fabric.topograph.run/tier-2";
constexpr const char* kNvidia = "nvidia.com/gpu";
constexpr const char* kNvidiaProduct = "nvidia.com/gpu.product";
constexpr const char* kNvidiaCount = "nvidia.com/gpu.count";

// Base latencies of one message through NCCL's network transport and per switch tier crossed:
// about 5 us for one hop, 1 us more for each pair of hops further out (NCCL src/graph/tuning.cc).
constexpr std::int64_t kLeafLatencyNs = 5'000;
constexpr std::int64_t kSpineLatencyNs = 6'000;
constexpr std::int64_t kCoreLatencyNs = 7'000;

LinkSpec Net(std::string type, std::int64_t oversubscription_percent, std::int64_t latency_ns) {
  return {std::move(type), {}, oversubscription_percent, latency_ns};
}

LinkSpec Inside(std::string type) { return {std::move(type), {}, 100, {}}; }

// 32-node scalable units, each on its own eight rail leaves.
constexpr int kNodesPerUnit = 32;

FleetRecipe DgxH100(int) {
  // Four units on one spine layer; the ports of the 128th slot are used by the fabric managers
  // (UFM).
  constexpr int kNodesPerPod = 127;
  return {Designs()[0],
          "dgx-h100-",
          kNvidia,
          {{kNvidiaProduct, "NVIDIA-H100-80GB-HBM3"}, {"nvidia.com/gpu.family", "hopper"}},
          kNvidiaCount,
          {{"spine", kTier1, "pod-", kNodesPerPod, Net("InfiniBandNDR", 100, kSpineLatencyNs)},
           {"leaf", kTier0, "su-", kNodesPerUnit, Net("InfiniBandNDR", 100, kLeafLatencyNs)}},
          Net("InfiniBandNDR", 100, kCoreLatencyNs),
          Inside("NVLink4"),
          8,
          0};
}

FleetRecipe DgxB200(int nodes) {
  // Two tiers up to 8 units. From there on 64-port spines point 32 ports up: 32 leaves, which are
  // 4 units, share a spine group below the core.
  constexpr int kTwoTierNodes = 8 * kNodesPerUnit;
  constexpr int kNodesPerSpineGroup = 4 * kNodesPerUnit;
  const bool three_tiers = nodes > kTwoTierNodes;
  FleetRecipe recipe{
      Designs()[1],
      "dgx-b200-",
      kNvidia,
      {{kNvidiaProduct, "NVIDIA-B200"}, {"nvidia.com/gpu.family", "blackwell"}},
      kNvidiaCount,
      {{"spine", kTier1, "spine-", three_tiers ? kNodesPerSpineGroup : 0,
        Net("InfiniBandNDR", 100, kSpineLatencyNs)},
       {"leaf", kTier0, "su-", kNodesPerUnit, Net("InfiniBandNDR", 100, kLeafLatencyNs)}},
      Net("InfiniBandNDR", 100, kCoreLatencyNs),
      Inside("NVLink5"),
      8,
      0};
  if (three_tiers) {
    recipe.levels.insert(recipe.levels.begin(),
                         {"core", kTier2, "core-", 0, Net("InfiniBandNDR", 100, kCoreLatencyNs)});
  }
  return recipe;
}

FleetRecipe Gb200(int) {
  constexpr int kTraysPerRack = 18, kRacksPerUnit = 8;
  return {Designs()[2],
          "gb200-",
          kNvidia,
          {{kNvidiaProduct, "NVIDIA-GB200"}, {"nvidia.com/gpu.family", "blackwell"}},
          kNvidiaCount,
          {{"spine", kTier1, "su-", kTraysPerRack * kRacksPerUnit,
            Net("InfiniBandNDR", 100, kSpineLatencyNs)},
           {"leaf", kTier0, "rack-", kTraysPerRack, Net("InfiniBandNDR", 100, kLeafLatencyNs)}},
          Net("InfiniBandNDR", 100, kCoreLatencyNs),
          Inside("NVLink5"),
          4,
          kTraysPerRack,
          true};
}

FleetRecipe RoceTwoToOne(int) {
  constexpr int kNodesPerLeaf = 16, kLeavesPerPod = 16;
  return {Designs()[3],
          "h100-roce-",
          kNvidia,
          {{kNvidiaProduct, "NVIDIA-H100-80GB-HBM3"}, {"nvidia.com/gpu.family", "hopper"}},
          kNvidiaCount,
          {{"spine", kTier1, "pod-", kNodesPerLeaf * kLeavesPerPod,
            Net("RoCE400", 200, kSpineLatencyNs)},
           {"leaf", kTier0, "tor-", kNodesPerLeaf, Net("RoCE400", 100, kLeafLatencyNs)}},
          Net("RoCE400", 200, kCoreLatencyNs),
          Inside("NVLink4"),
          0,
          0};
}

FleetRecipe RoceSevenToOne(int) {
  // 192 racks of 2 nodes make a pod of 3,072 GPUs without oversubscription, 7:1 above it.
  constexpr int kNodesPerRack = 2, kRacksPerPod = 192;
  return {Designs()[4],
          "h100-pod-",
          kNvidia,
          {{kNvidiaProduct, "NVIDIA-H100-80GB-HBM3"}, {"nvidia.com/gpu.family", "hopper"}},
          kNvidiaCount,
          {{"spine", kTier1, "ctsw-", kNodesPerRack * kRacksPerPod,
            Net("RoCE400", 100, kSpineLatencyNs)},
           {"leaf", kTier0, "rtsw-", kNodesPerRack, Net("RoCE400", 100, kLeafLatencyNs)}},
          Net("RoCE400", 700, kCoreLatencyNs),
          Inside("NVLink4"),
          0,
          0};
}

FleetRecipe Dragonfly(int) {
  // A balanced dragonfly has a = 2p = 2h; with p = 8 nodes per router: 16 routers per group, 8
  // global links each. Between two groups non-minimal routes cross two global links, which halves
  // what one GPU gets.
  constexpr int kNodesPerRouter = 8, kRoutersPerGroup = 16;
  return {Designs()[5],
          "a100-df-",
          kNvidia,
          {{kNvidiaProduct, "NVIDIA-A100-SXM4-80GB"}, {"nvidia.com/gpu.family", "ampere"}},
          kNvidiaCount,
          {{"spine", kTier1, "group-", kNodesPerRouter * kRoutersPerGroup,
            Net("InfiniBandHDR", 100, kSpineLatencyNs)},
           {"leaf", kTier0, "router-", kNodesPerRouter, Net("InfiniBandHDR", 100, kLeafLatencyNs)}},
          Net("InfiniBandHDR", 200, kCoreLatencyNs),
          Inside("NVLink3"),
          0,
          0};
}

FleetRecipe PcieOnly(int) {
  // Two 100 Gb/s ports (12.5 GB/s each) serve eight GPUs; racks of four boxes, 3:1 uplinks.
  static constexpr std::int64_t kBytesPerSecondPerGpu = 2 * 12'500'000'000 / 8;
  constexpr int kNodesPerRack = 4, kRacksPerZone = 16;
  const auto ethernet = [](std::int64_t percent, std::int64_t latency_ns) {
    return LinkSpec{"RoCE100", kBytesPerSecondPerGpu, percent, latency_ns};
  };
  return {Designs()[6],
          "l40s-",
          kNvidia,
          {{kNvidiaProduct, "NVIDIA-L40S"}, {"nvidia.com/gpu.family", "ada-lovelace"}},
          kNvidiaCount,
          {{"spine", "topology.kubernetes.io/zone", "zone-", kNodesPerRack * kRacksPerZone,
            ethernet(300, kSpineLatencyNs)},
           {"leaf", "topology.kubernetes.io/rack", "rack-", kNodesPerRack,
            ethernet(100, kLeafLatencyNs)}},
          ethernet(300, kCoreLatencyNs),
          Inside("PCIeGen4"),
          0,
          0};
}

FleetRecipe Mi355x(int) {
  constexpr int kNodesPerLeaf = 32, kLeavesPerPod = 8;
  return {Designs()[7],
          "mi355x-",
          "amd.com/gpu",
          {{"amd.com/gpu.product-name", "Instinct_MI355X"}},
          "",
          {{"spine", kTier1, "pod-", kNodesPerLeaf * kLeavesPerPod,
            Net("RoCE400", 100, kSpineLatencyNs)},
           {"leaf", kTier0, "leaf-", kNodesPerLeaf, Net("RoCE400", 100, kLeafLatencyNs)}},
          Net("RoCE400", 200, kCoreLatencyNs),
          Inside("xGMIMI355X"),
          8,
          0};
}

// The grid of `cubes` cubes: the pod's grid, or, for a part of a pod, the smallest grid that holds
// them; among equals, the one with the least surface.
std::array<int, 3> GridOfCubes(int cubes, const std::array<int, 3>& pod,
                               const std::array<int, 3>& cube) {
  std::array<int, 3> best = pod;
  const auto rank = [&](const std::array<int, 3>& grid) {
    const int x = grid[0] * cube[0], y = grid[1] * cube[1], z = grid[2] * cube[2];
    return std::pair(x * y * z, x * y + y * z + z * x);
  };
  for (int x = 1; x <= pod[0]; ++x) {
    for (int y = 1; y <= pod[1]; ++y) {
      for (int z = 1; z <= pod[2]; ++z) {
        if (x * y * z >= cubes && rank({x, y, z}) < rank(best)) best = {x, y, z};
      }
    }
  }
  return best;
}

FleetRecipe TpuV5p(int nodes) {
  // Hosts of 2 x 2 x 1 chips, cubes of 4 x 4 x 4 chips, pods of 16 x 20 x 28 chips.
  constexpr std::array<int, 3> kCube = {2, 2, 4}, kPod = {4, 5, 7};
  constexpr int kHostsPerCube = 2 * 2 * 4, kHostsPerPod = kHostsPerCube * 4 * 5 * 7;
  // 200 Gb/s of the data centre's network for the four chips of a ct5p-hightpu-4t machine.
  static constexpr std::int64_t kBytesPerSecondPerChip = 25'000'000'000 / 4;
  const auto ethernet = [](std::int64_t latency_ns) {
    return LinkSpec{"Ethernet", kBytesPerSecondPerChip, 100, latency_ns};
  };
  FleetRecipe recipe{Designs()[8],
                     "tpu-v5p-",
                     "google.com/tpu",
                     {{"cloud.google.com/gke-tpu-accelerator", "tpu-v5p-slice"}},
                     "",
                     {{"spine", kTier1, "pod-", kHostsPerPod, ethernet(kSpineLatencyNs)},
                      {"leaf", kTier0, "cube-", kHostsPerCube, ethernet(kSpineLatencyNs)}},
                     ethernet(kCoreLatencyNs),
                     Inside("ICIv5p"),
                     0,
                     0};
  const int cubes = (nodes + kHostsPerCube - 1) / kHostsPerCube;
  recipe.torus = RecipeTorus{kCube, GridOfCubes(cubes, kPod, kCube), Inside("ICIv5p")};
  return recipe;
}

using Maker = FleetRecipe (*)(int);
// By design, without "mixed", which is the last.
constexpr std::array<Maker, 9> kMakers = {DgxH100,   DgxB200,  Gb200,  RoceTwoToOne, RoceSevenToOne,
                                          Dragonfly, PcieOnly, Mi355x, TpuV5p};

// The oversubscription of a tier: 0 is between racks, 1 is between pods.
std::int64_t TaperOf(const Geometry& geometry, std::size_t tier) {
  return tier < geometry.taper_percents.size() ? geometry.taper_percents[tier] : 100;
}

}  // namespace

FleetRecipe RecipeOf(const Geometry& geometry) {
  const int each = geometry.nodes_per_rack;
  FleetRecipe recipe;
  recipe.design = {"", "", "", geometry.racks * each, import::kDefaultGpusPerNode};
  recipe.node_prefix = "node-";
  recipe.resource = kNvidia;
  recipe.levels = {{"leaf", kTier0, "rack-", each, Net(kDefaultLink, 100, kLeafLatencyNs)}};
  recipe.outside = Net(kDefaultLink, TaperOf(geometry, 0), kSpineLatencyNs);
  if (geometry.racks_per_pod > 0) {
    recipe.levels.insert(recipe.levels.begin(),
                         {"spine", kTier1, "pod-", each * geometry.racks_per_pod, recipe.outside});
    recipe.outside = Net(kDefaultLink, TaperOf(geometry, 1), kCoreLatencyNs);
  }
  recipe.node_link = Inside(geometry.node_link.empty() ? kDefaultNodeLink : geometry.node_link);
  recipe.rails = geometry.rails;
  recipe.rail_labels = true;
  recipe.nodes_per_clique = geometry.nodes_per_scale_up;
  recipe.accelerator_model = geometry.accelerator;
  return recipe;
}

FleetRecipe RecipeFor(std::string_view design, int nodes) {
  const std::span<const Design> designs = Designs();
  WEFT_CHECK(designs.size() == kMakers.size() + 1);
  for (std::size_t i = 0; i < kMakers.size(); ++i) {
    if (designs[i].name == design) return kMakers[i](nodes);
  }
  WEFT_CHECK(false);
  return {};
}

}  // namespace weft::designs
