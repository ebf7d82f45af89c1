#include "operator/import/import_slurm.h"

#include "gtest/gtest.h"
#include "tests/support/imported_paths.h"

namespace weft::import {
namespace {

std::string Import(const std::string& text) {
  return weft::testing::PathsOf(ImportSlurm({"topology.conf", text}, {}));
}

struct Case {
  std::string name, text, want;
};
class ImportSlurmTest : public ::testing::TestWithParam<Case> {};

TEST_P(ImportSlurmTest, GivesThePathOfEveryNodeOrNamesTheLine) {
  EXPECT_EQ(Import(GetParam().text), GetParam().want);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, ImportSlurmTest, ::testing::ValuesIn(std::vector<Case>{
  {"ATreeWithRangesAndComments",
   "# two leaves\nSwitchName=top Switches=s[0-1] # root\nSwitchName=s0 Nodes=n[1-2]\n\nSwitchName=s1 Nodes=n3,login\n",
   "login:top/s1 n1:top/s0 n2:top/s0 n3:top/s1"},
  {"KeysInAnyCaseQuotesAndContinuedLines",
   "SWITCHNAME=top \\\n  switches=\"a\"\r\nSwitchName=a LinkSpeed=100 Nodes=\"n[01-02]\"",
   "n01:top/a n02:top/a"},
  {"DefaultRecordsAreIgnored", "SwitchName=DEFAULT LinkSpeed=9\nSwitchName=a Nodes=n1\n", "n1:a"},
  {"RootsWithoutACommonOneArePadded",
   "SwitchName=r Switches=a\nSwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n", "n1:r/a n2:b/b"},
  {"RedundantTrunksAreOneDomain",
   "SwitchName=t1 Switches=a,b\nSwitchName=t2 Switches=a,b\nSwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n",
   "n1:t1/a n2:t1/b"},
  {"Blocks", "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n3\nBlockSizes=2,4\n", "n1:b1 n2:b1 n3:b2"},
  {"NumericNodeNames", "SwitchName=a Nodes=[1101-1102]", "1101:a 1102:a"},
  {"TwoBracketsMultiply", "SwitchName=a Nodes=r[1-2]n[1-2]", "r1n1:a r1n2:a r2n1:a r2n2:a"},

  {"BlanksAroundTheSign",
   "SwitchName = leaf1 Nodes = n1\nSwitchName= leaf2\tNodes =\"n2\"\nSwitchName=top Switches = leaf[1-2]\n",
   "n1:top/leaf1 n2:top/leaf2"},
  {"EmptyListsAndNames", "SwitchName=top Nodes=\"\" Switches=a,,b,\nSwitchName=a Nodes=n1,,n2\nSwitchName=b Switches=\"\" Nodes=n3",
   "n1:top/a n2:top/a n3:top/b"},
  {"AnEmptyFile", "# nothing\n", "topology.conf: no switch or block names a node"},
  {"AWordThatIsNoPair", "SwitchName=a\nNodes", "topology.conf: line 2: expected Key=Value at \"Nodes\""},
  {"AnUnknownKey", "SwitchName=a Node=n1", "topology.conf: line 1: unknown key \"node\""},
  {"AnotherRecord", "NodeName=n1", "topology.conf: line 1: expected SwitchName=, BlockName= or BlockSizes= in \"NodeName=n1\""},
  {"AKeyTwice", "SwitchName=a SwitchName=b", "topology.conf: line 1: \"switchname\" is given twice"},
  {"ASwitchTwice", "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2", "topology.conf: line 2: \"a\" is already defined in line 1"},
  {"ANodeTwice", "SwitchName=a Nodes=n1\nSwitchName=b Nodes=N1", "topology.conf: line 2: Nodes: node \"N1\" is already in line 1"},
  {"AnUndefinedSwitch", "SwitchName=a Switches=b\nSwitchName=c Nodes=n1", "topology.conf: line 1: Switches: \"b\" is defined nowhere"},
  {"BlocksAndSwitches", "SwitchName=a Nodes=n1\nBlockName=b Nodes=n2", "topology.conf: line 2: switches and blocks in one file"},
  {"AnUnboundedRange", "SwitchName=a Nodes=n[1-9999999999]", "topology.conf: line 1: Nodes: the list names more than 131072 nodes"},
  {"AProductOfRanges", "SwitchName=a Nodes=n[1-9999][1-9999]", "topology.conf: line 1: Nodes: the list names more than 131072 nodes"},
  {"ARangeThatRunsBackwards", "SwitchName=a Nodes=n[3-1]", "topology.conf: line 1: Nodes: the range \"3-1\" runs backwards"},
  {"AnOpenBracket", "SwitchName=a Nodes=n[1", "topology.conf: line 1: Nodes: unbalanced bracket in \"n[1\""},
  {"AnIncludedFile", "Include other.conf\nSwitchName=a Nodes=n1",
   "topology.conf: line 1: another file is not read: put its lines here instead of \"Include other.conf\""},
  {"AnOpenQuote", "SwitchName=a Nodes=\"n1", "topology.conf: line 1: unbalanced quote at \"\"n1\""},
  {"ASwitchUnderItself", "SwitchName=a Switches=a Nodes=n1", "topology.conf: the switches form a cycle through \"a\""},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(ImportSlurm, SaysWhatBlockSizesMean) {
  const auto cluster = ImportSlurm({"t", "BlockName=b Nodes=n[1-4]\nBlockSizes=2,4"}, {});
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->notes[1],
            "BlockSizes=2,4: sizes only group consecutive blocks for Slurm's planning and make no "
            "level");
}

TEST(ImportSlurm, ReadsTenThousandNodesOnFiveHundredLeaves) {
  std::string text = "SwitchName=root Switches=g[1-26]\n";
  for (int g = 1; g <= 26; ++g) {
    text += "SwitchName=g" + std::to_string(g) + " Switches=l[" + std::to_string(g * 20 - 19) +
            "-" + std::to_string(std::min(g * 20, 500)) + "]\n";
    if (g * 20 >= 500) {
      text = "SwitchName=root Switches=g[1-25]\n" + text.substr(text.find('\n') + 1);
      break;
    }
  }
  for (int l = 1; l <= 500; ++l) {
    const int first = 10'000 + (l - 1) * 20;
    text += "SwitchName=l" + std::to_string(l) + " Nodes=peta[" + std::to_string(first) + "-" +
            std::to_string(first + 19) + "]\n";
  }
  const auto cluster = ImportSlurm({"t", text}, {});
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->nodes.size(), 10'000U);
  EXPECT_EQ(cluster->nodes.back().name, "peta19999");
  EXPECT_EQ(cluster->nodes.back().labels.At("weft.dev/leaf"), "l500");
  EXPECT_EQ(cluster->nodes.back().labels.At("weft.dev/spine"), "g25");
  EXPECT_EQ(cluster->nodes.back().labels.At("weft.dev/core"), "root");
}

}  // namespace
}  // namespace weft::import
