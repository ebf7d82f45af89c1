#include "operator/import/import_topograph.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gtest/gtest.h"
#include "operator/manifest/reader.h"
#include "tests/support/source_dir.h"

namespace weft::import {
namespace {

using Labels = std::map<std::string, std::string>;

Result<ImportedCluster> Import(const std::string& text) {
  // Behind a document marker, so that a text that begins with '{' is YAML too.
  const Result<nlohmann::json> model = manifest::ReadDocument({"model", "---\n" + text});
  if (!model) return model.error();
  return ImportTopograph(*model, "model", {});
}

// Nodes per domain, by level name, widest first.
std::vector<std::pair<std::string, std::map<std::string, int>>> Sizes(
    const ImportedCluster& cluster) {
  std::vector<std::pair<std::string, std::map<std::string, int>>> sizes;
  for (const fabric::LevelSpec& level : cluster.fabric.levels) {
    sizes.push_back({level.name, {}});
    for (const fabric::NodeFacts& node : cluster.nodes) {
      ++sizes.back().second[std::string(*node.labels.At(level.label_key))];
    }
  }
  return sizes;
}

TEST(ImportTopograph, GivesNodesTheLabelsThatTopographWrites) {
  const auto cluster = Import(R"(
switches:
  core: {labels: {topology.kubernetes.io/region: west}, switches: [sw1]}
  sw1: {labels: {topology.kubernetes.io/zone: a}, switches: [leaf1]}
blocks:
- {switch: leaf1, nodes: ["n[01-02]"], annotations: {accelerator.topology.test/domain: nvl1}}
)");
  ASSERT_TRUE(cluster) << cluster.error().message;
  ASSERT_EQ(cluster->nodes.size(), 2U);
  EXPECT_EQ(cluster->nodes[1].name, "n02");
  EXPECT_EQ(cluster->nodes[1].labels, (Labels{{"kubernetes.io/hostname", "n02"},
                                              {"topology.kubernetes.io/region", "west"},
                                              {"topology.kubernetes.io/zone", "a"},
                                              {"fabric.topograph.run/tier-0", "leaf1"},
                                              {"fabric.topograph.run/tier-1", "sw1"},
                                              {"fabric.topograph.run/tier-2", "core"},
                                              {"accelerator.topograph.run/domain", "nvl1"}}));
  ASSERT_TRUE(cluster->fabric.scale_up);
  EXPECT_EQ(cluster->fabric.scale_up->label_key, "accelerator.topograph.run/domain");
}

TEST(ImportTopograph, TakesAnAcceleratorDomainOfSeveralNodesForARackOfTrays) {
  const auto model = [](const char* nodes) {
    return std::string("switches: {leaf1: {}}\nblocks:\n- {switch: leaf1, nodes: [\"") + nodes +
           "\"], annotations: {accelerator.topology.test/domain: nvl1}}\n";
  };
  const auto rack = Import(model("n[01-18]")), box = Import(model("n1"));
  ASSERT_TRUE(rack && box);
  EXPECT_EQ(rack->nodes[0].allocatable.at("nvidia.com/gpu"), 4);
  EXPECT_EQ(
      rack->notes[0],
      "accelerator domains hold up to 18 nodes: each node is given 4 nvidia.com/gpu, as a tray "
      "of a GB200 NVL72 rack has; --gpus-per-node sets another number");
  EXPECT_EQ(box->nodes[0].allocatable.at("nvidia.com/gpu"), 8);
}

TEST(ImportTopograph, PadsAShortBranchFromBelow) {
  const auto cluster = Import(R"(
switches:
  core: {switches: [sw1, leaf2]}
  sw1: {switches: [leaf1]}
blocks:
- {switch: leaf1, nodes: [a]}
- {switch: leaf2, nodes: [b]}
)");
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->nodes[1].labels, (Labels{{"kubernetes.io/hostname", "b"},
                                              {"fabric.topograph.run/tier-0", "leaf2"},
                                              {"fabric.topograph.run/tier-1", "leaf2"},
                                              {"fabric.topograph.run/tier-2", "core"}}));
  EXPECT_EQ(cluster->notes[0],
            "1 nodes (b...) are on a branch with fewer than 3 switches: each missing level gets "
            "the name of the switch below it");
  EXPECT_FALSE(cluster->fabric.scale_up);
}

struct BadCase {
  std::string name, text, want;
};
class ImportTopographBad : public ::testing::TestWithParam<BadCase> {};

TEST_P(ImportTopographBad, NamesTheField) {
  const auto got = Import(GetParam().text);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message, GetParam().want);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, ImportTopographBad, ::testing::ValuesIn(std::vector<BadCase>{
  {"AList", "[1]", "model: must be a map with switches and blocks"},
  {"AnUnknownField", "{blocks: [], nodes: []}", "model: \"nodes\": unknown field; a topograph model has switches and blocks"},
  {"NoNodes", "{switches: {a: {}}}", "model: blocks: the model has no nodes"},
  {"BlocksThatAreAMap", "{blocks: {}}", "model: model.blocks: must be a list"},
  {"ABlockWithoutSwitch", "{blocks: [{nodes: [a]}]}", "model: blocks[0].switch: is missing"},
  {"ANodeThatIsAMap", "{blocks: [{switch: s, nodes: [{}]}]}", "model: blocks[0].nodes[0]: \"{}\" must be a name"},
  {"AnUnboundedRange", "{blocks: [{switch: s, nodes: [\"n[1-9999999999]\"]}]}", "model: blocks[0].nodes[0]: the list names more than 131072 nodes"},
  {"ANodeInTwoBlocks", "{blocks: [{switch: s, nodes: [a]}, {switch: t, nodes: [b, a]}]}", "model: blocks[1].nodes[1]: node \"a\" is already in model: blocks[0].nodes[0]"},
  {"ACycle", "{switches: {a: {switches: [b]}, b: {switches: [a]}}, blocks: [{switch: a, nodes: [n1]}]}", "model: switches: the switches form a cycle through \"a\""},
}), [](const auto& row) { return row.param.name; });
// clang-format on

struct RealCase {
  std::string file;
  std::size_t nodes;
  std::vector<std::pair<std::string, std::size_t>> levels;  // and their domains
  std::size_t accelerator_domains;
};
class ImportTopographReal : public ::testing::TestWithParam<RealCase> {};

TEST_P(ImportTopographReal, ImportsThePublishedModel) {
  const RealCase& c = GetParam();
  const std::string path = testing::SourceDir() + "/../shared/data/topology/topograph/" + c.file;
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "NOT TESTED: the topograph model is absent: " << path;
  std::stringstream text;
  text << file.rdbuf();
  const auto cluster = Import(text.str());
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->nodes.size(), c.nodes);
  std::vector<std::pair<std::string, std::size_t>> levels;
  for (const auto& [name, domains] : Sizes(*cluster)) levels.push_back({name, domains.size()});
  EXPECT_EQ(levels, c.levels);
  std::map<std::string, int> accelerator;
  for (const auto& node : cluster->nodes) {
    ++accelerator[std::string(*node.labels.At("accelerator.topograph.run/domain"))];
  }
  EXPECT_EQ(accelerator.size(), c.accelerator_domains);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, ImportTopographReal, ::testing::ValuesIn(std::vector<RealCase>{
  {"medium.yaml", 8, {{"core", 1}, {"spine", 2}, {"leaf", 4}}, 4},
  {"nvl72.yaml", 72, {{"core", 1}, {"spine", 2}, {"leaf", 4}}, 4},
  {"large.yaml", 96, {{"core", 1}, {"spine", 6}, {"leaf", 12}}, 12},
  {"dual-xclr-irregular.yaml", 255, {{"core", 1}, {"spine", 2}, {"leaf", 29}}, 2},
}), [](const auto& row) { return row.param.file.substr(0, row.param.file.find_first_of("-.")); });
// clang-format on

}  // namespace
}  // namespace weft::import
