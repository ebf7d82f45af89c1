#include "operator/import/import_slurm_yaml.h"

#include "gtest/gtest.h"
#include "tests/support/imported_paths.h"

namespace weft::import {
namespace {

std::string Import(const std::string& text, const std::string& name = "") {
  return weft::testing::PathsOf(ImportSlurmYaml({"topology.yaml", text}, name, {}));
}

struct Case {
  std::string name, text, want, topology;
};
class ImportSlurmYamlTest : public ::testing::TestWithParam<Case> {};

TEST_P(ImportSlurmYamlTest, GivesThePathOfEveryNodeOrNamesTheLine) {
  EXPECT_EQ(Import(GetParam().text, GetParam().topology), GetParam().want);
}

const std::string kTree = R"(---
- topology: tree1
  cluster_default: %
  tree:
    switches:
      - switch: root
        children: s[1-2]
      - switch: s1
        nodes: n[01-02]
      - switch: s2
        nodes: n03,login
)";
const std::string kBlocks = R"(- topology: block1
  cluster_default: %
  block:
    block_sizes: [2, 4]
    blocks:
      - {block: b1, nodes: "n[1-2]"}
      - {block: b2, nodes: n3}
)";
const std::string kFlat = "- topology: flat1\n  flat: True\n";

std::string With(const std::string& value, std::string text) {
  return text.replace(text.find('%'), 1, value);
}

const std::string kTreePaths = "login:root/s2 n01:root/s1 n02:root/s1 n03:root/s2";
const std::string kSwitches = "topology: t\ntree:\n  switches:\n";

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, ImportSlurmYamlTest, ::testing::ValuesIn(std::vector<Case>{
  {"ATree", With("true", kTree), kTreePaths, ""},
  {"OneTopologyNeedsNoDefault", With("false", kTree), kTreePaths, ""},
  {"OneTopologyWithoutAList", kSwitches + "  - {switch: a, nodes: n1}\n", "n1:a", ""},
  {"Json", R"([{"topology": "t", "tree": {"switches": [{"switch": "a", "nodes": "n1"}]}}])", "n1:a", ""},
  {"Blocks", With("true", kBlocks), "n1:b1 n2:b1 n3:b2", ""},
  {"AFlatNetworkNamesNoNodes", kFlat, "", ""},
  {"AFlatNetworkWithOptions", "- topology: f\n  flat: {alpha_step_rank: true}\n", "", ""},
  {"AFlatNetworkWithNoOptions", "- topology: f\n  flat: {}\n", "", ""},
  {"TheDefaultOfSeveral", With("False", kTree) + With("True", kBlocks), "n1:b1 n2:b1 n3:b2", ""},
  {"TheFirstOfTwoDefaults", With("true", kTree) + With("true", kBlocks), kTreePaths, ""},
  {"TheOneThatIsNamed", With("true", kTree) + With("false", kBlocks), "n1:b1 n2:b1 n3:b2", "block1"},
  {"EmptyPluginsBesideTheOne", "- topology: t\n  block: {}\n  flat: false\n  tree:\n    switches:\n    - {switch: a, nodes: n1}\n", "n1:a", ""},
  {"EmptyLists", kSwitches + "  - {switch: a, nodes: \"\", children: b}\n  - {switch: b, nodes: n1, children: \"\"}\n", "n1:a/b", ""},
  {"RedundantTrunksAreOneDomain", kSwitches + "  - {switch: t1, children: \"a,b\"}\n  - {switch: t2, children: \"a,b\"}\n  - {switch: a, nodes: n1}\n  - {switch: b, nodes: n2}\n",
   "n1:t1/a n2:t1/b", ""},

  {"SeveralWithoutADefault", With("false", kTree) + kFlat,
   "topology.yaml: has 2 topologies and none with cluster_default: choose one with --topology: \"tree1\", \"flat1\"", ""},
  {"AnUnknownName", With("true", kTree) + kFlat,
   "topology.yaml: has no topology \"tree2\", which --topology names; it has \"tree1\", \"flat1\"", "tree2"},
  {"TwoOfOneName", kFlat + kFlat, "topology.yaml: line 3: [1].topology: \"flat1\" is the name of two topologies", ""},
  {"NoTopologyAtAll", "[]\n", "topology.yaml: has no topology", ""},
  {"AText", "not a list\n", "topology.yaml: \"not a list\" must be a list of topologies", ""},
  {"NoName", "- flat: true\n", "topology.yaml: line 1: [0].topology: is required", ""},
  {"NoPlugin", "- topology: t\n  flat: false\n", "topology.yaml: line 1: [0].topology: the topology has none of tree, block, ring, torus3d and flat", ""},
  {"TwoPlugins", With("true", kTree) + "  flat: true\n", "topology.yaml: line 12: [0].flat: the topology already has the plug-in tree", ""},
  {"AnUnknownPlugin", "- topology: t\n  trees: {}\n", "topology.yaml: line 2: [0].trees: unknown field; did you mean tree?", ""},
  {"ATreeThatIsAText", "- topology: t\n  tree: root\n", "topology.yaml: line 2: [0].tree: \"root\" must be an object", ""},
  {"SwitchesThatAreAText", "- topology: t\n  tree:\n    switches: root\n", "topology.yaml: line 3: [0].tree.switches: \"root\" must be a list", ""},
  {"NoSwitches", "- topology: t\n  tree: {switch: a}\n", "topology.yaml: line 2: [0].tree.switches: is required", ""},
  {"AnUnknownKeyOfASwitch", kSwitches + "  - switch: a\n    node: n1\n", "topology.yaml: line 5: tree.switches[0].node: unknown field; did you mean nodes?", ""},
  {"ASwitchWithoutAName", kSwitches + "  - nodes: n1\n", "topology.yaml: line 4: tree.switches[0].switch: is required", ""},
  {"ANumberForANode", kSwitches + "  - switch: a\n    nodes: 1101\n", "topology.yaml: line 5: tree.switches[0].nodes: 1101 must be a string; quote it", ""},
  {"ACycle", kSwitches + "  - {switch: a, children: b, nodes: n1}\n  - {switch: b, children: a}\n",
   "topology.yaml: line 4: tree.switches[0]: the switches form a cycle through \"a\"", ""},
  {"NoNodes", kSwitches + "  - {switch: a}\n", "topology.yaml: line 2: tree: no switch or block names a node", ""},
  {"ARangeThatRunsBackwards", kSwitches + "  - switch: a\n    nodes: n[3-1]\n",
   "topology.yaml: line 5: tree.switches[0].nodes: the range \"3-1\" runs backwards", ""},
  {"ABlockWithChildren", "- topology: t\n  block:\n    blocks:\n    - block: b\n      children: c\n",
   "topology.yaml: line 5: [0].block.blocks[0].children: unknown field", ""},
  {"ASizeOfNothing", "- topology: t\n  block:\n    block_sizes: [0]\n    blocks: [{block: b, nodes: n1}]\n",
   "topology.yaml: line 3: [0].block.block_sizes[0]: 0 must be at least 1", ""},
  {"AnUnknownOptionOfAFlatNetwork", "- topology: t\n  flat: {alpha: true}\n",
   "topology.yaml: line 2: [0].flat.alpha: unknown field; did you mean alpha_step_rank?", ""},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(ImportSlurmYaml, LeavesOutWhatContradictsTheRestWithAWarning) {
  const auto cluster = ImportSlurmYaml({"t", kSwitches + R"(  - {switch: a, nodes: n1}
  - {switch: a, nodes: n2}
  - {switch: b, nodes: "N1,n3"}
  - {switch: c, children: "c,d", nodes: n4}
  - {switch: e, nodes: "n[3-1]"}
)"},
                                       "", {});
  EXPECT_EQ(weft::testing::PathsOf(cluster), "n1:a n3:b n4:c");
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(
      cluster->warnings,
      (std::vector<std::string>{
          "t: line 5: tree.switches[1].switch: \"a\" is already defined in tree.switches[0] (the "
          "line is left out)",
          "t: line 6: tree.switches[2]: Nodes: node \"N1\" is already in tree.switches[0] (left "
          "out)",
          "t: line 8: tree.switches[4].nodes: the range \"3-1\" runs backwards (the line is left "
          "out)",
          "t: line 7: tree.switches[3].children: \"c\" is its own child (left out)",
          "t: line 7: tree.switches[3].children: \"d\" is defined nowhere (left out)"}));
}

TEST(ImportSlurmYaml, SaysWhichTopologyItReadsAndWhatOfItIsLeftOut) {
  const auto blocks = ImportSlurmYaml({"t", With("true", kBlocks) + kFlat}, "", {});
  ASSERT_TRUE(blocks) << blocks.error().message;
  EXPECT_EQ(blocks->notes[0],
            "reads topology \"block1\" of \"block1\", \"flat1\"; --topology chooses another");
  EXPECT_EQ(blocks->notes[2],
            "block_sizes 2, 4: sizes only group consecutive blocks for Slurm's planning and make "
            "no level");
  const auto flat = ImportSlurmYaml({"t", kFlat}, "", {});
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_TRUE(flat->fabric.levels.empty());
  EXPECT_EQ(flat->notes,
            (std::vector<std::string>{"a flat topology names no nodes: only a Fabric without "
                                      "levels is written; the Nodes come from the cluster",
                                      kNoLinksNote}));
}

TEST(ImportSlurmYaml, ListsAFewNamesOfMany) {
  std::string text;
  for (int i = 0; i < 23; ++i) text += "- {topology: t" + std::to_string(i) + ", flat: true}\n";
  const std::string message = Import(text);
  EXPECT_TRUE(message.ends_with("\"t18\", \"t19\" and 3 more")) << message;
}

TEST(ImportSlurmYaml, KnowsATopologyYamlByItsKey) {
  for (const char* text : {"topology: a\n", "---\n- topology: a\n", "# one\n-\n  topology : a",
                           "[{\"topology\": \"a\"}]"}) {
    EXPECT_TRUE(HasTopologyKey(text)) << text;
  }
  for (const char* text : {"", "SwitchName=topology: Nodes=n1", "# topology: a",
                           "switches:\n  a: {labels: {topology.kubernetes.io/zone: a}}\n",
                           "topology", "topologies: []"}) {
    EXPECT_FALSE(HasTopologyKey(text)) << text;
  }
}

}  // namespace
}  // namespace weft::import
