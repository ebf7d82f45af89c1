// The seeds of the fuzzers that look as real tools print (tests/fuzz/corpus/*/real_*) are read
// whole: a seed that its parser refuses in the first line is no start for a fuzzer.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "operator/import/formats.h"
#include "operator/manifest/inputs.h"
#include "tests/support/source_dir.h"

namespace weft::import {
namespace {

std::string ReadSeed(const std::string& name) {
  std::ifstream file(testing::SourceDir() + "/tests/fuzz/corpus/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Seed {
  const char* name;
  std::size_t nodes, levels;
};

TEST(FuzzSeeds, FilesOfNetworksAreReadWhole) {
  const std::vector<Seed> seeds = {
      {"import_ibnetdiscover_fuzz/real_plain.txt", 36, 1},
      {"import_ibnetdiscover_fuzz/real_grouped.txt", 18, 1},
      {"import_ibnetdiscover_fuzz/real_ports.txt", 22, 1},
      {"import_slurm_fuzz/real_tree.conf", 128, 4},
      {"import_slurm_fuzz/real_topograph_block.conf", 108, 1},
      {"import_slurm_fuzz/real_topograph_tree.conf", 54, 2},
      {"import_slurm_fuzz/real_scontrol_tree.txt", 192, 3},
      {"import_slurm_fuzz/real_scontrol_block.txt", 160, 1},
      {"import_slurm_yaml_fuzz/real_three.yaml", 384, 3},
      {"import_slurm_yaml_fuzz/real_quoted.yaml", 128, 2},
      {"import_slurm_yaml_fuzz/real_block.json", 96, 1},
      {"import_topograph_fuzz/real_small.yaml", 32, 3},
      {"import_topograph_fuzz/real_large.yaml", 256, 3},
  };
  for (const Seed& seed : seeds) {
    const auto cluster = Import({seed.name, ReadSeed(seed.name)}, {});
    ASSERT_TRUE(cluster) << cluster.error().message;
    EXPECT_EQ(cluster->nodes.size(), seed.nodes) << seed.name;
    EXPECT_EQ(cluster->fabric.levels.size(), seed.levels) << seed.name;
    EXPECT_TRUE(cluster->warnings.empty()) << seed.name;
  }
}

TEST(FuzzSeeds, TablesAreReadWhole) {
  for (const auto& [name, nodes] : {std::pair("real_long.csv", 150U), {"real_returns.csv", 32U}}) {
    ImportRequest request;
    request.table.levels = {"DSW", "PSW", "ASW"};
    const auto cluster = Import({name, ReadSeed("import_csv_fuzz/" + std::string(name))}, request);
    ASSERT_TRUE(cluster) << cluster.error().message;
    EXPECT_EQ(cluster->nodes.size(), nodes) << name;
    EXPECT_TRUE(cluster->warnings.empty()) << name;
  }
}

TEST(FuzzSeeds, WhatKubectlPrintsIsReadWhole) {
  const auto counts = [](const char* name) {
    const auto inputs = manifest::ReadInputs({{name, ReadSeed(name)}});
    return inputs ? std::to_string(inputs->nodes.size()) + " nodes, " +
                        std::to_string(inputs->pods.size()) + " pods"
                  : inputs.error().message;
  };
  EXPECT_EQ(counts("inputs_fuzz/real_nodes.json"), "3 nodes, 0 pods");
  EXPECT_EQ(counts("inputs_fuzz/real_pods.yaml"), "0 nodes, 3 pods");
  EXPECT_EQ(counts("inputs_fuzz/real_both.yaml"), "1 nodes, 2 pods");
  EXPECT_EQ(counts("yaml_reader_fuzz/real_pods.yaml"), "0 nodes, 3 pods");
  EXPECT_EQ(counts("yaml_reader_fuzz/real_node.yaml"), "1 nodes, 0 pods");
}

}  // namespace
}  // namespace weft::import
