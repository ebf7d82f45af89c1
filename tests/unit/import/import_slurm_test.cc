#include "operator/import/import_slurm.h"

#include <map>

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
  {"BranchesOfUnequalDepthMeetAtTheirSwitch",
   "SwitchName=r Switches=za,zb\nSwitchName=za Switches=za1,zas\nSwitchName=za1 Switches=za1l\nSwitchName=za1l Nodes=n1\n"
   "SwitchName=zas Nodes=n2\nSwitchName=zb Switches=zbl\nSwitchName=zbl Nodes=n3\n",
   "n1:r/za/za1/za1l n2:r/za/zas/zas n3:r/zb/zb/zbl"},
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
  {"BlanksAndOperatorsAroundTheSignInAnyOrderAndCase",
   "nodes = n1 SWITCHNAME\t=\tleaf1\nSwitchName+=leaf2 Nodes = \"n2\"\n\tSwitchName =top  Switches= leaf[1-2]  \n",
   "n1:top/leaf1 n2:top/leaf2"},
  {"EmptyListsWithoutQuotes", "SwitchName=top Nodes= Switches=a,b\nSwitchName=a Switches = Nodes=n1\nSwitchName=b Nodes=n2 Switches=",
   "n1:top/a n2:top/b"},
  {"ContinuedLinesKeepTheirBlanks",
   "SwitchName=top\\\n  Switches=a,\\\nb \\ # and a comment\n LinkSpeed=1\n# a comment is not continued \\\nSwitchName=a Nodes=n1\nSwitchName=b Nodes=n2 \\",
   "n1:top/a n2:top/b"},
  {"EscapedMarksAndBackslashes", "SwitchName=a\\#1 Nodes=n1 \\\\\n", "topology.conf: line 1: expected Key=Value at \"\\\""},
  {"AMarkInQuotesBeginsAComment", "SwitchName=a Nodes=n1\nSwitchName=b Nodes=\"n2 # n3\"", "n1:a"},
  {"AByteOrderMarkAndReturns", "\xEF\xBB\xBFSwitchName=a Nodes=n1\r\n\r\nSwitchName=b Nodes=n2\r\n", "n1:a n2:b"},
  {"BlanksBetweenNamesInQuotes", "SwitchName=a Nodes=\"n[1-2] n4\tn[6, 8]\"", "n1:a n2:a n4:a n6:a n8:a"},
  {"SuffixesAndOpenRanges", "SwitchName=a Nodes=n[08-10]-ib,m[3-]", "m3:a n08-ib:a n09-ib:a n10-ib:a"},
  {"BlockSizesBesideABlockAndBlocksWithoutNodes",
   "blocklevels=0,1\nBlockName = b1 Nodes=n1 BlockSizes=2\nBlockName=b2 Nodes=\nBlockName=b3 Nodes=\"\"", "n1:b1"},
  {"Rings", "RingName=r1 Nodes=n[1-3]\nRingName = r2 Nodes=\"n[4-6]\"", "n1:r1 n2:r1 n3:r1 n4:r2 n5:r2 n6:r2"},

  {"TheTopologyThatScontrolShows",
   "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4],login Switches=a,b\nSwitchName=a Level=0 LinkSpeed=1 Nodes=n[1-2]\nSwitchName=b Level=0 LinkSpeed=1 Nodes=n[3-4]\n",
   "login:top/top n1:top/a n2:top/a n3:top/b n4:top/b"},
  {"TheBlocksThatScontrolShows", "BlockName=b1 BlockIndex=0 Nodes=n[1-2] BlockSize=2\nBlockName=b2 BlockIndex=1 Nodes=n[3-4] BlockSize=2\nAggregatedBlock=b[1-2] BlockIndex=2 Nodes=n[1-4] BlockSize=4\n",
   "n1:b1 n2:b1 n3:b2 n4:b2"},

  {"AWordThatIsNoPair", "SwitchName=a\nNodes", "topology.conf: line 2: expected Key=Value at \"Nodes\""},
  {"AnUnknownKey", "SwitchName=a Node=n1", "topology.conf: line 1: unknown key \"node\""},
  {"AnotherRecord", "NodeName=n1", "topology.conf: line 1: unknown key \"nodename\""},
  {"ASecondName", "SwitchName=a SwitchName=b", "topology.conf: line 1: a second name, \"b\""},
  {"AnUnboundedRange", "SwitchName=a Nodes=n[1-9999999999]", "topology.conf: line 1: Nodes: the list names more than 131072 nodes"},
  {"AProductOfRanges", "SwitchName=a Nodes=n[1-9999][1-9999]", "topology.conf: line 1: Nodes: the list names more than 131072 nodes"},
  {"ARangeThatRunsBackwards", "SwitchName=a Nodes=n[3-1]", "topology.conf: line 1: Nodes: the range \"3-1\" runs backwards"},
  {"AnOpenBracket", "SwitchName=a Nodes=n[1", "topology.conf: line 1: Nodes: unbalanced bracket in \"n[1\""},
  {"AnIncludedFile", "Include other.conf\nSwitchName=a Nodes=n1",
   "topology.conf: line 1: Include \"other.conf\": no other file is read here: put its lines here instead"},
  {"AnOpenQuote", "SwitchName=a Nodes=\"n1", "topology.conf: line 1: unbalanced quote at \"\"n1\""},
  {"ACycle", "SwitchName=c Nodes=n3\nSwitchName=a Switches=b Nodes=n1\nSwitchName=b Switches=a", "topology.conf: line 2: the switches form a cycle through \"a\""},
  {"ARingOfTooManyNodes", "RingName=r1 Nodes=n[1-2]\nRingName=r2 Nodes=m[1-17]", "topology.conf: line 2.nodes: names 17 nodes; a ring may have at most 16"},
  {"MoreBrokenLinesThanOthers", "SwitchName=a Nodes=n1\nhello\nworld",
   "topology.conf: line 2: expected Key=Value at \"hello\"; 2 lines of 3 cannot be read"},
}), [](const auto& row) { return row.param.name; });
// clang-format on

struct BrokenCase {
  std::string name, line, paths, warning;
};
class ImportSlurmBrokenLine : public ::testing::TestWithParam<BrokenCase> {};

// One broken line does not cost the rest of the file.
TEST_P(ImportSlurmBrokenLine, IsLeftOutWithAWarning) {
  const std::string text = "SwitchName=top Switches=a,b\nSwitchName=a Nodes=n1\n" +
                           GetParam().line + "\nSwitchName=b Nodes=n2\n";
  const auto cluster = ImportSlurm({"topology.conf", text}, {});
  EXPECT_EQ(weft::testing::PathsOf(cluster), GetParam().paths);
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->warnings, (std::vector{"topology.conf: line 3: " + GetParam().warning}));
}

// clang-format off
const std::string kBoth = "n1:top/a n2:top/b";
INSTANTIATE_TEST_SUITE_P(Table, ImportSlurmBrokenLine, ::testing::ValuesIn(std::vector<BrokenCase>{
  {"NoPair", "SwitchName", kBoth, "expected Key=Value at \"SwitchName\" (the line is left out)"},
  {"NoRecord", "LinkSpeed=3", kBoth, "expected SwitchName=, BlockName=, RingName= or BlockSizes= in \"LinkSpeed=3\" (the line is left out)"},
  {"ABadRange", "SwitchName=c Nodes=n[3-", kBoth, "Nodes: unbalanced bracket in \"n[3-\" (the line is left out)"},
  {"AnUnknownKey", "SwitchName=c Nodes=n3 Rack=7", kBoth + " n3:c/c", "unknown key \"rack\" (left out)"},
  {"AKeyTwice", "SwitchName=c Nodes=n3 Nodes=n4", kBoth + " n4:c/c", "\"nodes\" is given twice: \"n3\" (left out)"},
  {"ASwitchTwice", "SwitchName=a Nodes=n3", kBoth, "\"a\" is already defined in line 2 (the line is left out)"},
  {"ANodeTwice", "SwitchName=c Nodes=N1,n3", kBoth + " n3:c/c", "Nodes: node \"N1\" is already in line 2 (left out)"},
  {"ManyNodesTwice", "SwitchName=c Nodes=n1,n1,n1", kBoth, "Nodes: node \"n1\" is already in line 2, and so are 2 more nodes of the list (left out)"},
  {"AnUndefinedChild", "SwitchName=c Switches=d", kBoth, "Switches: \"d\" is defined nowhere (left out)"},
  {"AChildOfItself", "SwitchName=c Switches=c Nodes=n3", kBoth + " n3:c/c", "Switches: \"c\" is its own child (left out)"},
  {"ABlock", "BlockName=c Nodes=n3", kBoth, "BlockName in a file of SwitchName (the line is left out)"},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(ImportSlurm, ShowsTheFirstWarningsAndCountsTheOthers) {
  std::string text;
  for (int i = 1; i <= 30; ++i) {
    const std::string number = std::to_string(i);
    text += "SwitchName=s" + number + " Nodes=n" + number + "\nbroken\n";
  }
  const auto cluster = ImportSlurm({"t", text}, {});
  ASSERT_TRUE(cluster) << cluster.error().message;
  ASSERT_EQ(cluster->warnings.size(), 21U);
  EXPECT_EQ(cluster->warnings.back(), "t: 10 more lines or parts of lines are left out");
}

// The files that a topology.conf includes, by path.
Result<ImportedCluster> ImportWith(const std::map<std::string, std::string>& files) {
  return ImportSlurm(
      {"/etc/slurm/topology.conf", files.at("topology.conf")}, {},
      [&](const std::string& path, const std::string& conf) -> Result<manifest::Source> {
        EXPECT_EQ(conf, "/etc/slurm/topology.conf");
        const auto file = files.find(path);
        if (file == files.end()) return Invalid(path + ": no such file");
        return manifest::Source{path, file->second};
      });
}

TEST(ImportSlurm, ReadsIncludedFiles) {
  const auto cluster =
      ImportWith({{"topology.conf", "include  a.conf # leaves\nSwitchName=top Switches=a,b"},
                  {"a.conf", "SwitchName=a Nodes=n1\n\nINCLUDE b.conf\n"},
                  {"b.conf", "SwitchName=b Nodes=n1,n2\n"}});
  EXPECT_EQ(weft::testing::PathsOf(cluster), kBoth);
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->warnings[0],
            "/etc/slurm/topology.conf: b.conf: line 1: Nodes: node \"n1\" is already in a.conf: "
            "line 1 (left out)");
}

TEST(ImportSlurm, RefusesAFileWhoseIncludeCannotBeRead) {
  const std::string conf = "/etc/slurm/topology.conf: line 2: Include ";
  const auto refusal = [](const std::string& line) {
    return weft::testing::PathsOf(
        ImportWith({{"topology.conf", "SwitchName=a Nodes=n1\n" + line}}));
  };
  EXPECT_EQ(refusal("Include b.conf"), conf + "\"b.conf\": b.conf: no such file");
  EXPECT_EQ(refusal("Include *.conf"), conf + "\"*.conf\": Slurm reads no pattern of file names");
  EXPECT_EQ(refusal("Include topology.conf"),
            "/etc/slurm/topology.conf: topology.conf: line 2: Include \"topology.conf\": too many "
            "files include each other");
}

TEST(ImportSlurm, RecognisesItsTextInEverySpelling) {
  for (const char* text :
       {"SwitchName = a Nodes = n1", "# x\nswitchname=a\n", "Nodes=n1\tBLOCKNAME= b",
        "BlockSizes=4\nBlockName=b1", "RingName=r Nodes=n1", "Include a.conf\n"}) {
    EXPECT_TRUE(LooksLikeSlurm(text)) << text;
  }
  for (const char* text : {"", "# SwitchName=a\n", "host,switchname\nn1,a\n",
                           "switches:\n  a: {}\n", "include a.h\nint main() {}\n"}) {
    EXPECT_FALSE(LooksLikeSlurm(text)) << text;
  }
}

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
