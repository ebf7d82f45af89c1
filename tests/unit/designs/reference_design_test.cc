#include "operator/designs/reference_design.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "gtest/gtest.h"
#include "operator/fabric/fabric.h"
#include "operator/fabric/selector.h"
#include "operator/import/write_manifests.h"

namespace weft::designs {
namespace {

import::ImportedCluster Generate(const DesignOptions& options){
    Result<import::ImportedCluster> cluster = GenerateDesign(options);
if (!cluster) {
  ADD_FAILURE() << cluster.error().message;
  return {};
}
return *std::move(cluster);
}  // namespace

struct ShapeCase {
  std::string design;
  int nodes;                // 0: the default
  std::string want;         // "nodes/accelerators level:domains ..."
  std::string first, last;  // node names
};

std::string Shape(const import::ImportedCluster& cluster) {
  std::int64_t accelerators = 0;
  for (const auto& node : cluster.nodes) {
    for (const auto& [name, amount] : node.allocatable) {
      if (fabric::IsAcceleratorResource(name)) accelerators += amount;
    }
  }
  std::string shape = std::to_string(cluster.nodes.size()) + "/" + std::to_string(accelerators);
  std::vector<fabric::LevelSpec> levels = cluster.fabric.levels;
  if (cluster.fabric.scale_up) {
    levels.push_back({cluster.fabric.scale_up->name, cluster.fabric.scale_up->label_key, {}, {}});
  }
  for (const fabric::LevelSpec& level : levels) {
    std::set<std::string> domains;
    for (const auto& node : cluster.nodes) {
      const auto label = node.labels.find(level.label_key);
      if (label != node.labels.end()) domains.emplace(label->second);
    }
    shape += " " + level.name + ":" + std::to_string(domains.size());
  }
  return shape;
}

class DesignShape : public ::testing::TestWithParam<ShapeCase> {};

TEST_P(DesignShape, HasTheDomainsOfTheReference) {
  const ShapeCase& c = GetParam();
  DesignOptions options;
  options.design = c.design;
  options.nodes = c.nodes;
  const import::ImportedCluster cluster = Generate(options);
  EXPECT_EQ(Shape(cluster), c.want);
  ASSERT_FALSE(cluster.nodes.empty());
  EXPECT_EQ(cluster.nodes.front().name, c.first);
  EXPECT_EQ(cluster.nodes.back().name, c.last);
  if (!cluster.more_fabrics.empty()) return;
  const auto fabric = fabric::Fabric::Build(cluster.fabric, cluster.nodes, {});
  ASSERT_TRUE(fabric) << fabric.error().message;
  EXPECT_EQ(fabric->node_count(), cluster.nodes.size());
  EXPECT_TRUE(fabric->incomplete().empty());
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, DesignShape, ::testing::ValuesIn(std::vector<ShapeCase>{
  {"dgx-h100-superpod", 0, "127/1016 spine:1 leaf:4", "dgx-h100-001", "dgx-h100-127"},
  {"dgx-h100-superpod", 1, "1/8 spine:1 leaf:1", "dgx-h100-001", "dgx-h100-001"},
  {"dgx-h100-superpod", 254, "254/2032 spine:2 leaf:8", "dgx-h100-001", "dgx-h100-254"},
  {"dgx-b200-superpod", 256, "256/2048 spine:1 leaf:8", "dgx-b200-001", "dgx-b200-256"},
  {"dgx-b200-superpod", 512, "512/4096 core:1 spine:4 leaf:16", "dgx-b200-001", "dgx-b200-512"},
  {"gb200-nvl72", 0, "144/576 spine:1 leaf:8 nvlink:8", "gb200-r01-t01", "gb200-r08-t18"},
  {"gb200-nvl72", 145, "145/580 spine:2 leaf:9 nvlink:9", "gb200-r01-t01", "gb200-r09-t01"},
  {"roce-fat-tree-2to1", 0, "512/4096 spine:2 leaf:32", "h100-roce-001", "h100-roce-512"},
  {"roce-fat-tree-7to1", 0, "768/6144 spine:2 leaf:384", "h100-pod-001", "h100-pod-768"},
  {"dragonfly", 0, "512/4096 spine:4 leaf:64", "a100-df-001", "a100-df-512"},
  {"pcie-only", 0, "64/512 spine:1 leaf:16", "l40s-001", "l40s-064"},
  {"mi355x", 0, "256/2048 spine:1 leaf:8", "mi355x-001", "mi355x-256"},
  {"tpu-v5p-cube", 0, "2240/8960 spine:1 leaf:140", "tpu-v5p-0001", "tpu-v5p-2240"},
  {"tpu-v5p-cube", 64, "64/256 spine:1 leaf:4", "tpu-v5p-001", "tpu-v5p-064"},
  {"tpu-v5p-cube", 2250, "2250/9000 spine:2 leaf:141", "tpu-v5p-0001", "tpu-v5p-2250"},
  {"mixed", 0, "320/2176 spine:3 leaf:14", "dgx-h100-001", "mi355x-064"},
}), [](const auto& row) {
  std::string name = row.param.design + "_" + std::to_string(row.param.nodes);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});
// clang-format on

TEST(ReferenceDesign, GivesAMixedFleetOneFabricPerAccelerator) {
  DesignOptions options;
  options.design = "mixed";
  options.nodes = 10;
  options.fragmented_percent = 50;
  const import::ImportedCluster cluster = Generate(options);
  std::vector<std::string> names{cluster.fabric.name};
  for (const auto& fabric : cluster.more_fabrics) names.push_back(fabric.name);
  EXPECT_EQ(names, (std::vector<std::string>{"h100", "gb200", "mi355x"}));
  for (const fabric::FabricSpec* spec :
       {&cluster.fabric, &cluster.more_fabrics[0], &cluster.more_fabrics[1]}) {
    ASSERT_TRUE(spec->node_selector);
    const auto& [key, value] = *spec->node_selector->match_labels.begin();
    int nodes = 0;
    for (const auto& node : cluster.nodes) {
      const auto label = node.labels.find(key);
      nodes += label != node.labels.end() && label->second == value ? 1 : 0;
    }
    EXPECT_EQ(nodes, spec->name == "h100" ? 5 : spec->name == "gb200" ? 3 : 2);
  }
}

TEST(ReferenceDesign, StandsCubesOfTpuV5pInATorus) {
  const auto sizes = [](int nodes) {
    DesignOptions options;
    options.design = "tpu-v5p-cube";
    options.nodes = nodes;
    const import::ImportedCluster cluster = Generate(options);
    std::string text;
    for (const fabric::TorusDimension& dimension : cluster.fabric.torus->dimensions) {
      text += (text.empty() ? "" : " x ") + std::to_string(dimension.size);
      EXPECT_TRUE(dimension.wraps);
    }
    return text;
  };
  EXPECT_EQ(sizes(0), "8 x 10 x 28");
  EXPECT_EQ(sizes(4480), "8 x 10 x 28");
  EXPECT_EQ(sizes(64), "4 x 4 x 4");
  EXPECT_EQ(sizes(16), "2 x 2 x 4");
  EXPECT_EQ(sizes(11 * 16), "4 x 6 x 8");  // 11 cubes fit into no grid but that of 12
}

TEST(ReferenceDesign, TheNodesOfACubeAreNeighbours) {
  DesignOptions options;
  options.design = "tpu-v5p-cube";
  const import::ImportedCluster cluster = Generate(options);
  const auto fabric = fabric::Fabric::Build(cluster.fabric, cluster.nodes, {});
  ASSERT_TRUE(fabric) << fabric.error().message;
  const fabric::Torus& torus = *fabric->torus();
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(fabric->node_count())) {
    EXPECT_EQ(torus.At(0, torus.place(n)), n);
    const fabric::NodeIndex first{n.Raw() / 16 * 16};
    EXPECT_EQ(fabric->SharedTier(n, first), n == first ? fabric->node_tier() : fabric::Tier{2});
    EXPECT_LE(torus.Hops(n, first), 1U + 1U + 3U);
  }
}

TEST(ReferenceDesign, GivesEveryRackItsOwnClique) {
  DesignOptions options;
  options.design = "gb200-nvl72";
  const import::ImportedCluster cluster = Generate(options);
  std::map<std::string, std::set<std::string>> racks;
  for (const auto& node : cluster.nodes) {
    racks[std::string(*node.labels.At("nvidia.com/gpu.clique"))].insert(node.name.substr(0, 9));
  }
  EXPECT_EQ(racks.size(), 8U);
  for (const auto& [clique, names] : racks) {
    EXPECT_EQ(names.size(), 1U);
    EXPECT_EQ(clique.size(), 36U + 6U) << clique;
  }
}

struct FragmentCase {
  std::string design;
  int nodes, percent;
};
class Fragmented : public ::testing::TestWithParam<FragmentCase> {};

TEST_P(Fragmented, HoldsThePercentageToLessThanOneNodeAndNoNodeTwice) {
  DesignOptions options;
  options.design = GetParam().design;
  options.nodes = GetParam().nodes;
  options.fragmented_percent = GetParam().percent;
  const import::ImportedCluster cluster = Generate(options);
  std::map<std::string, fabric::Resources> allocatable, used;
  std::set<std::string> names;
  std::int64_t all = 0, held = 0;
  for (const auto& node : cluster.nodes) {
    allocatable[node.name] = node.allocatable;
    all += node.allocatable.at("nvidia.com/gpu");
  }
  for (const auto& pod : cluster.pods) {
    EXPECT_TRUE(names.insert(pod.name).second) << pod.name;
    for (const auto& [name, amount] : pod.requests) used[pod.node][name] += amount;
    held += pod.requests.at("nvidia.com/gpu");
  }
  for (const auto& [node, resources] : used) {
    for (const auto& [name, amount] : resources) EXPECT_LE(amount, allocatable.at(node).at(name));
  }
  const std::int64_t per_node = all / GetParam().nodes;
  EXPECT_LT(std::abs(held - all * GetParam().percent / 100), per_node) << held << " of " << all;
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, Fragmented, ::testing::ValuesIn(std::vector<FragmentCase>{
  {"dgx-h100-superpod", 127, 0}, {"dgx-h100-superpod", 127, 1}, {"dgx-h100-superpod", 127, 50},
  {"dgx-h100-superpod", 127, 99}, {"dgx-h100-superpod", 127, 100}, {"dgx-h100-superpod", 1, 40},
  {"gb200-nvl72", 144, 70}, {"roce-fat-tree-7to1", 3072, 60},
}), [](const auto& row) {
  std::string name = row.param.design + "_" + std::to_string(row.param.nodes) + "_" +
                     std::to_string(row.param.percent);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});
// clang-format on

TEST(ReferenceDesign, FragmentsIntoFullPartlyUsedAndFreeNodesInEveryUnit) {
  DesignOptions options;
  options.design = "dgx-h100-superpod";
  options.fragmented_percent = 60;
  const import::ImportedCluster cluster = Generate(options);
  std::map<std::string, std::int64_t> used;
  for (const auto& pod : cluster.pods) used[pod.node] += pod.requests.at("nvidia.com/gpu");
  std::map<std::string, std::set<std::string>> kinds;  // by unit
  for (const auto& node : cluster.nodes) {
    const std::int64_t held = used[node.name];
    const std::string leaf(*node.labels.At("fabric.topograph.run/tier-0"));
    kinds[leaf].insert(held == 0 ? "free" : held == 8 ? "full" : "part");
  }
  for (const auto& [unit, seen] : kinds) {
    EXPECT_EQ(seen, (std::set<std::string>{"free", "full", "part"})) << unit;
  }
}

TEST(ReferenceDesign, IsDeterministicFromItsSeed) {
  DesignOptions options;
  options.design = "mixed";
  options.fragmented_percent = 50;
  options.seed = 7;
  const std::string text = import::WriteManifests(Generate(options));
  EXPECT_EQ(import::WriteManifests(Generate(options)), text);
  options.seed = 8;
  EXPECT_NE(import::WriteManifests(Generate(options)), text);
}

DesignOptions Racks(Geometry geometry) {
  DesignOptions options;
  options.geometry = std::move(geometry);
  return options;
}

TEST(Geometry, IsRacksInPodsWithTheLinksThatItNames) {
  Geometry geometry;
  geometry.racks = 15;
  geometry.nodes_per_rack = 10;
  EXPECT_EQ(Shape(Generate(Racks(geometry))), "150/1200 leaf:15");
  geometry.racks_per_pod = 4;
  geometry.links = {"RoCE400"};
  geometry.taper_percents = {200, 400};
  const import::ImportedCluster cluster = Generate(Racks(geometry));
  EXPECT_EQ(Shape(cluster), "150/1200 spine:4 leaf:15");
  const fabric::FabricSpec& fabric = cluster.fabric;
  EXPECT_EQ(fabric.levels[0].link->oversubscription_percent, 200);
  EXPECT_EQ(fabric.levels[1].link->oversubscription_percent, 100);
  EXPECT_EQ(fabric.outside->oversubscription_percent, 400);
  EXPECT_EQ(fabric.outside->type, "RoCE400");
  EXPECT_EQ(fabric.accelerator_model, "");
  geometry.accelerator = "H100";
  EXPECT_EQ(Generate(Racks(geometry)).fabric.accelerator_model, "H100");
  geometry.rack_watts = 30'000;
  const fabric::FabricSpec limited = Generate(Racks(geometry)).fabric;
  EXPECT_EQ(limited.levels[0].power_watts, std::nullopt);
  EXPECT_EQ(limited.levels[1].power_watts, 30'000);
}

TEST(Geometry, RefusesWhatContradictsItself) {
  const auto error = [](const DesignOptions& options) {
    const auto cluster = GenerateDesign(options);
    return cluster ? "" : cluster.error().message;
  };
  Geometry geometry;
  EXPECT_EQ(error(Racks(geometry)),
            "--design: is required, or --racks; `weft fabric generate --list` lists designs");
  geometry.nodes_per_rack = 8;
  EXPECT_EQ(error(Racks(geometry)),
            "--racks: is required to describe a network of racks, as --nodes-per-rack does");
  geometry.racks = 1 << 20;
  EXPECT_EQ(error(Racks(geometry)), "--racks: 8388608 nodes are more than the limit of 1048576");
  geometry.racks = 2;
  geometry.taper_percents = {100, 200};
  EXPECT_EQ(error(Racks(geometry)),
            "--taper: has 2 numbers, but the network has 1 tier above the racks; --racks-per-pod "
            "adds one");
  geometry.taper_percents = {0};
  EXPECT_EQ(error(Racks(geometry)), "--taper: 0 is not from 1 to 1000000");
  geometry.taper_percents = {};
  DesignOptions both = Racks(geometry);
  both.design = "mi355x";
  EXPECT_EQ(error(both), "--racks: describes racks of your own; leave it or --design out");
  both = {};
  both.design = "mi355x";
  both.geometry.accelerator = "H100";
  EXPECT_EQ(error(both), "--accelerator: describes racks of your own; leave it or --design out");
  both.geometry = {};
  both.geometry.links = {"RoCE400"};
  EXPECT_EQ(error(both), "--link: describes racks of your own; leave it or --design out");
  both = Racks(geometry);
  both.nodes = 7;
  EXPECT_EQ(
      error(both),
      "--nodes: is only for a design; with --racks the number of nodes is racks x nodes per rack");
}

TEST(Geometry, RefusesLinksRailsAndScaleUpDomainsThatItCannotHave) {
  const auto error = [](const Geometry& geometry) {
    const auto cluster = GenerateDesign(Racks(geometry));
    return cluster ? "" : cluster.error().message;
  };
  const Geometry racks = {.racks = 2, .nodes_per_rack = 6};
  Geometry geometry = racks;
  geometry.links = {"String"};
  EXPECT_TRUE(error(geometry).starts_with("--link: \"String\" is not a known type of link; "));
  geometry.links = {"nvlink=NVLink5"};
  EXPECT_EQ(error(geometry),
            "--link: \"nvlink\" is not a level of this fabric, which has outside, leaf");
  geometry = racks;
  geometry.node_link = "String";
  EXPECT_TRUE(error(geometry).starts_with("--node-link: \"String\" is not one of NVLink2, "));
  geometry = racks;
  geometry.rails = 65;
  EXPECT_EQ(error(geometry), "--rails: 65 is not from 0 to 64");
  geometry = racks;
  geometry.nodes_per_scale_up = 4;
  const std::string scale_up =
      " nodes is not a rack of 6 nodes (--nodes-per-rack), an equal part of one, or several of the "
      "2 racks (--racks)";
  EXPECT_EQ(error(geometry), "--scale-up: a domain of 4" + scale_up);
  geometry.nodes_per_scale_up = 18;
  EXPECT_EQ(error(geometry), "--scale-up: a domain of 18" + scale_up);
  DesignOptions named = Racks(racks);
  for (const char* name : {"-east", "East", "a.b", "east-", "a23456789012345678901234567890123"}) {
    named.fabric_name = name;
    const auto cluster = GenerateDesign(named);
    ASSERT_FALSE(cluster) << name;
    EXPECT_EQ(cluster.error().message,
              "--fabric-name: \"" + named.fabric_name +
                  "\" is not a name of at most 32 lower-case letters, digits and, between them, "
                  "hyphens");
  }
}

TEST(Geometry, GivesALevelItsOwnLinksWhereverTheyAreNamed) {
  Geometry geometry = {.racks = 4, .nodes_per_rack = 2, .racks_per_pod = 2};
  geometry.links = {"leaf=InfiniBandXDR", "RoCE400", "nvlink=NVLink5"};
  geometry.nodes_per_scale_up = 2;
  const fabric::FabricSpec fabric = Generate(Racks(geometry)).fabric;
  EXPECT_EQ(fabric.levels[0].link->type, "RoCE400");
  EXPECT_EQ(fabric.levels[1].link->type, "InfiniBandXDR");
  EXPECT_EQ(fabric.outside->type, "RoCE400");
  EXPECT_EQ(fabric.scale_up->link->type, "NVLink5");
  EXPECT_EQ(fabric.node_link->type, "NVLink4");
}

TEST(Geometry, GivesEveryRailALeafInEachRack) {
  const import::ImportedCluster cluster =
      Generate(Racks({.racks = 2, .nodes_per_rack = 3, .rails = 2}));
  ASSERT_TRUE(cluster.fabric.rails);
  EXPECT_EQ(*cluster.fabric.rails, (fabric::RailsSpec{2, {"weft.dev/rail-0", "weft.dev/rail-1"}}));
  const auto& last = cluster.nodes.back();
  EXPECT_EQ(*last.labels.At("weft.dev/rail-0"), "rack-02-rail-0");
  EXPECT_EQ(*last.labels.At("weft.dev/rail-1"), "rack-02-rail-1");
  const auto fabric = fabric::Fabric::Build(cluster.fabric, cluster.nodes, {});
  ASSERT_TRUE(fabric) << fabric.error().message;
  EXPECT_EQ(fabric->rails_full(), 2);
  EXPECT_TRUE(fabric->incomplete().empty());
}

TEST(Geometry, HasScaleUpDomainsOfPartsOfARackOrOfWholeRacks) {
  const auto shape = [](int nodes) {
    const import::ImportedCluster cluster =
        Generate(Racks({.racks = 4, .nodes_per_rack = 6, .nodes_per_scale_up = nodes}));
    EXPECT_EQ(cluster.fabric.scale_up->requires_claim, fabric::ScaleUpRequires::kComputeDomain);
    EXPECT_EQ(cluster.fabric.scale_up->link->type, "NVLink4");
    EXPECT_EQ(cluster.nodes.front().name, "node-001");
    return Shape(cluster);
  };
  EXPECT_EQ(shape(6), "24/192 leaf:4 nvlink:4");
  EXPECT_EQ(shape(3), "24/192 leaf:4 nvlink:8");
  EXPECT_EQ(shape(12), "24/192 leaf:4 nvlink:2");
}

TEST(FabricName, KeepsTheNodesAndPodsOfTwoFabricsApart) {
  DesignOptions options = Racks({.racks = 2, .nodes_per_rack = 2});
  options.fragmented_percent = 50;
  std::set<std::string> names;
  for (const char* name : {"east", "west"}) {
    options.fabric_name = name;
    const import::ImportedCluster cluster = Generate(options);
    EXPECT_EQ(cluster.fabric.name, name);
    ASSERT_TRUE(cluster.fabric.node_selector);
    for (const auto& node : cluster.nodes) {
      EXPECT_TRUE(names.insert(node.name).second) << node.name;
      EXPECT_TRUE(fabric::Matches(*cluster.fabric.node_selector, node)) << node.name;
      EXPECT_EQ(*node.labels.At("weft.dev/fabric"), name);
    }
    for (const auto& pod : cluster.pods) {
      EXPECT_TRUE(names.insert(pod.name).second) << pod.name;
      EXPECT_TRUE(pod.node.starts_with(name)) << pod.node;
    }
  }
  EXPECT_TRUE(names.contains("east-node-001"));
  options = {};
  options.design = "mixed";
  options.nodes = 10;
  options.fabric_name = "lab";
  const import::ImportedCluster mixed = Generate(options);
  EXPECT_EQ(mixed.fabric.name, "lab-h100");
  EXPECT_EQ(mixed.more_fabrics[1].name, "lab-mi355x");
  EXPECT_EQ(mixed.nodes.front().name, "lab-dgx-h100-001");
}

TEST(ReferenceDesign, RefusesWhatItCannotBuild) {
  const auto error = [](const DesignOptions& options) {
    const auto cluster = GenerateDesign(options);
    return cluster ? "" : cluster.error().message;
  };
  EXPECT_EQ(error({"dgx", {}, 0, 0, 1, 0}),
            "--design: unknown design \"dgx\"; known: dgx-h100-superpod, dgx-b200-superpod, "
            "gb200-nvl72, roce-fat-tree-2to1, roce-fat-tree-7to1, dragonfly, pcie-only, mi355x, "
            "tpu-v5p-cube, mixed");
  EXPECT_EQ(error({"mi355x", {}, -1, 0, 1, 0}), "--nodes: -1 is not from 1 to 1048576");
  EXPECT_EQ(error({"mi355x", {}, 1 << 21, 0, 1, 0}), "--nodes: 2097152 is not from 1 to 1048576");
  EXPECT_EQ(error({"mi355x", {}, 0, 101, 1, 0}), "--fragmented: 101 is not from 0 to 100");
  EXPECT_EQ(error({"mi355x", {}, 0, 0, 1, -8}), "--gpus-per-node: -8 is not from 0 to 1024");
}

}  // namespace weft::designs
}  // namespace weft::designs
