#include "operator/import/import_csv.h"
#include "operator/import/write_manifests.h"

#include <fstream>
#include <set>
#include <sstream>

#include "gtest/gtest.h"
#include "tests/support/source_dir.h"

namespace weft::import {
namespace {

struct Case {
  std::string name, text;
  CsvOptions table;
  std::string want;  // "level(identity) ... | node:domain/domain ...", or the error
};

std::string Import(const Case& c) {
  const auto cluster = ImportCsv({"t.csv", c.text}, c.table, {});
  if (!cluster) return cluster.error().message;
  std::string out;
  for (const fabric::LevelSpec& level : cluster->fabric.levels) {
    out += level.name + (level.identity == fabric::Identity::kPath ? "(path) " : " ");
  }
  out += "|";
  for (const fabric::NodeFacts& node : cluster->nodes) {
    out += " " + node.name + ":";
    for (const fabric::LevelSpec& level : cluster->fabric.levels) {
      const auto label = node.labels.find(level.label_key);
      out += "/" + std::string(label == node.labels.end() ? "-" : label->second);
    }
  }
  return out;
}

class ImportCsvTest : public ::testing::TestWithParam<Case> {};

TEST_P(ImportCsvTest, GivesTheTreeOrNamesTheLine) {
  EXPECT_EQ(Import(GetParam()), GetParam().want);
}

// clang-format off
const CsvOptions kPodRack{{"pod", "rack"}, {""}};
INSTANTIATE_TEST_SUITE_P(Table, ImportCsvTest, ::testing::ValuesIn(std::vector<Case>{
  {"ColumnsInAnyOrder", "rack,ip,pod\nr1,n2,p1\nr2,n1,p1\n", kPodRack, "pod rack | n1:/p1/r2 n2:/p1/r1"},
  {"OneNameUnderTwoParentsByPath", "ip,pod,rack\nn1,p1,r1\nn2,p2,r1\n", kPodRack, "pod rack(path) | n1:/p1/r1 n2:/p2/r1"},
  {"QuotesLineEndsByteOrderMarkAndBlankLines", "\xef\xbb\xbfip,pod,rack\r\n\"n1\",\"p,1\",r1\r\n\r\n", kPodRack, "pod rack | n1:/p-1-787ea919570ffe38/r1"},
  {"ANamedNodeColumn", "id,host,pod\n7,n1,p1\n", {{"pod"}, {"host"}}, "pod | n1:/p1"},
  {"ALevelOfAnotherName", "ip,PSW,ASW\nn1,p1,a1\n", {{"spine=PSW", "leaf=ASW"}, {""}}, "spine leaf | n1:/p1/a1"},
  {"AnEmptyCellIsAMissingLevel", "ip,pod,rack\nn1,p1,\n", kPodRack, "pod rack | n1:/p1/-"},

  {"AnEmptyTable", "", kPodRack, "t.csv: line 1: the table is empty"},
  {"OnlyAHeader", "ip,pod,rack\n", kPodRack, "t.csv: line 1: the table has a header and no rows"},
  {"AMissingColumn", "ip,pod\nn1,p1\n", kPodRack, "t.csv: line 1: no column \"rack\"; the columns are \"ip\", \"pod\""},
  {"NoColumnLeftForTheNode", "pod,rack\np,r\n", kPodRack, "t.csv: line 1: every column is a level: none is left for the node's name"},
  {"NoLevels", "ip\nn1\n", {}, "--levels: names no column"},
  {"AColumnTwice", "ip,pod\nn1,p1\n", {{"pod", "x=pod"}, {""}}, "--levels: the column \"pod\" is named twice"},
  {"AReservedLevelName", "ip,node\nn1,p1\n", {{"node"}, {""}}, "--levels: \"node\" cannot be the name of a level; give the level another name as NAME=COLUMN (lower-case letters, digits and hyphens, each name once, not node, outside or nvlink)"},
  {"ARaggedRow", "ip,pod,rack\nn1,p1\n", kPodRack, "t.csv: line 2: 2 cells where the header has 3"},
  {"ANodeWithoutName", "ip,pod,rack\n,p1,r1\n", kPodRack, "t.csv: line 2: the node's name is empty"},
  {"AnOpenQuote", "ip,pod,rack\n\"n1,p1,r1\n", kPodRack, "t.csv: line 2: a quoted cell never ends"},
  {"MoreBrokenRowsThanOthers", "ip,pod,rack\nn1,p1,r1\nn2\nn3\n", kPodRack, "t.csv: line 3: 1 cells where the header has 3; 2 lines of 3 cannot be read"},
  {"AQuoteInsideACell", "ip,pod,rack\nn\"1,p1,r1\n", kPodRack, "t.csv: line 2: a quote inside an unquoted cell"},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(ImportCsv, DoesNotDependOnTheOrderOfRows) {
  const std::string a = "ip,pod,rack\nn1,p1,r1\nn2,p2,r1\n",
                    b = "ip,pod,rack\nn2,p2,r1\nn1,p1,r1\n";
  const auto first = ImportCsv({"t", a}, kPodRack, {}), second = ImportCsv({"t", b}, kPodRack, {});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(WriteManifests(*first), WriteManifests(*second));
  EXPECT_EQ(first->notes, second->notes);
}

TEST(ImportCsv, ReadsTheRealLingjunTable) {
  const std::string path = testing::SourceDir() + "/../shared/data/topology/lingjun_topo.csv";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "NOT TESTED: the Lingjun table is absent: " << path;
  std::stringstream text;
  text << file.rdbuf();
  const auto cluster = ImportCsv({path, text.str()}, {{"DSW", "PSW", "ASW"}, {""}}, {});
  ASSERT_TRUE(cluster) << cluster.error().message;
  std::set<std::string> names, psw, asw;
  for (const fabric::NodeFacts& node : cluster->nodes) {
    EXPECT_LE(node.name.size(), 63U);
    EXPECT_EQ(node.labels.At("kubernetes.io/hostname"), node.name);
    names.insert(node.name);
    psw.emplace(*node.labels.At("weft.dev/psw"));
    asw.insert(std::string(*node.labels.At("weft.dev/psw")) + "/" +
               std::string(*node.labels.At("weft.dev/asw")));
  }
  EXPECT_EQ(names.size(), 847U);
  EXPECT_EQ(psw, (std::set<std::string>{"P10", "P12", "P8"}));
  EXPECT_EQ(asw.size(), 119U);  // 48 names, counted anew in every pod
  ASSERT_EQ(cluster->fabric.levels.size(), 3U);
  EXPECT_EQ(cluster->fabric.levels[1].identity, fabric::Identity::kValue);
  EXPECT_EQ(cluster->fabric.levels[2].identity, fabric::Identity::kPath);
}

TEST(ImportCsv, ReadsWhatTheTableSaysOfEachNode) {
  CsvOptions table{{"rack"}, {}};
  table.columns = {"sn", "gpu", "model", "cpu_milli:m", "memory_mib:Mi"};
  const auto cluster = ImportCsv(
      {"t", "sn,cpu_milli,memory_mib,gpu,model,rack\nn1,64000,262144,2,P100,r1\nn2,,,,,r1\n"},
      table, {.gpus_per_node = 4});
  ASSERT_TRUE(cluster) << cluster.error().message;
  const fabric::NodeFacts &n1 = cluster->nodes[0], &n2 = cluster->nodes[1];
  EXPECT_EQ(n1.allocatable.at("cpu"), 64'000);
  EXPECT_EQ(n1.allocatable.at("memory"), std::int64_t{256} << 30);
  EXPECT_EQ(n1.allocatable.at("nvidia.com/gpu"), 2);
  EXPECT_EQ(n1.labels.At("nvidia.com/gpu.product"), "P100");
  EXPECT_EQ(n2.allocatable.at("nvidia.com/gpu"), 4);
  EXPECT_FALSE(n2.labels.At("nvidia.com/gpu.product"));
}

TEST(ImportCsv, AsksForTheUnitIfANodeHasTooLittleMemoryOrTooManyCpus) {
  const auto notes = [](const std::string& cpu, const std::string& memory) {
    CsvOptions table{{"rack"}, {}};
    table.columns = {"sn", "gpu", "", cpu, memory};
    const auto cluster = ImportCsv({"t",
                                    "sn,cpu_milli,memory_mib,gpu,rack\nn1,64000,262144,8,r1\n"
                                    "n2,96000,2097152,8,r1\nn3,,,8,r1\n"},
                                   table, {});
    std::vector<std::string> all = cluster->notes;
    std::erase(all, kNoLinksNote);
    return all;
  };
  EXPECT_EQ(notes("cpu_milli:m", "memory_mib:Mi"), std::vector<std::string>());
  EXPECT_EQ(notes("cpu_milli", "memory_mib"),
            (std::vector<std::string>{
                "2 nodes have under 1 GiB of memory, such as n1: if the column's numbers have a "
                "unit, add it: --memory-column memory_mib:Mi for MiB (or Ki, Gi, k, M, G)",
                "2 nodes have over 4,096 CPUs, such as n1: if the column's numbers have a unit, "
                "add it: --cpu-column cpu_milli:m for thousandths of a CPU"}));
  EXPECT_EQ(notes("cpu_milli:m", "memory_mib:k"),
            std::vector<std::string>{
                "1 node has under 1 GiB of memory, such as n1: if the column's numbers have a "
                "unit, add it: --memory-column memory_mib:Mi for MiB (or Ki, Gi, k, M, G)"});
}

TEST(ImportCsv, LeavesOutBrokenRowsWithAWarning) {
  CsvOptions table{{"rack"}, {}};
  table.columns.gpus = "gpu";
  const auto cluster = ImportCsv({"t",
                                  "ip,rack,gpu\nn1,r1,8\nn2,r1,many\nn3,r1\n\"n4,r1,8\nn5,r2,4\nN1,"
                                  "r2,8\nn\"6,r2,8\n,r2,8\nn2,r2,2\nn7,r1,8\nn8,r1,8\nn9,r1,8\n"},
                                 table, {});
  ASSERT_TRUE(cluster) << cluster.error().message;
  std::string names;
  for (const fabric::NodeFacts& node : cluster->nodes) names += node.name + " ";
  EXPECT_EQ(names, "n1 n2 n5 n7 n8 n9 ");
  EXPECT_EQ(
      cluster->warnings,
      (std::vector<std::string>{
          "t: line 3: gpu: \"many\" is not a number of GPUs from 0 to 1024 (the line is left out)",
          "t: line 4: 2 cells where the header has 3 (the line is left out)",
          "t: line 5: text after a closing quote (the line is left out)",
          "t: line 7: node \"N1\" is already in line 2 (the line is left out)",
          "t: line 8: a quote inside an unquoted cell (the line is left out)",
          "t: line 9: the node's name is empty (the line is left out)"}));
}

TEST(ImportCsv, NamesTheColumnThatIsMissing) {
  CsvOptions table{{"rack"}, {}};
  table.columns.gpus = "gpus";
  const auto column = ImportCsv({"t", "ip,rack,gpu\nn1,r1,8\n"}, table, {});
  ASSERT_FALSE(column);
  EXPECT_EQ(column.error().message,
            "t: line 1: no column \"gpus\"; the columns are \"ip\", \"rack\", \"gpu\"");
}

TEST(ImportCsv, AsksWhetherTheLevelsAreInTheWrongOrder) {
  const auto has = [](const std::vector<std::string>& levels) {
    const auto cluster =
        ImportCsv({"t", "ip,pod,rack\na,p1,r1\nb,p1,r2\nc,p1,r3\n"}, {levels, {}}, {});
    return std::any_of(cluster->notes.begin(), cluster->notes.end(), [](const std::string& note) {
      return note ==
             "level pod has 1 names, and the wider level rack has 3: are the levels in the wrong "
             "order? The widest comes first";
    });
  };
  EXPECT_TRUE(has({"rack", "pod"}));
  EXPECT_FALSE(has({"pod", "rack"}));
}

}  // namespace
}  // namespace weft::import
