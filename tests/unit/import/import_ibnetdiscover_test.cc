#include "operator/import/import_ibnetdiscover.h"

#include <array>
#include <fstream>
#include <iostream>
#include <sstream>

#include "gtest/gtest.h"

namespace weft::import {
namespace {

// A small fabric in ibnetdiscover's words. Ports count up on both ends.
class Dump {
 public:
  explicit Dump(std::string speed = "4xNDR") : speed_(std::move(speed)) {}

  Dump& Wire(const std::string& host_description, int guid, const std::string& leaf) {
    const std::string id = "H-" + std::to_string(1000 + guid);
    Open(id, host_description, false);
    Join(id, leaf);
    return *this;
  }
  Dump& Uplinks(const std::string& lower, const std::string& upper, int count) {
    for (int i = 0; i < count; ++i) Join(lower, upper);
    return *this;
  }
  Dump& System(const std::string& id, const std::string& guid) {
    system_[id] = guid;
    return *this;
  }
  std::string Text(const std::string& end = "\n", bool tabs = true, bool blank = true) const {
    std::string text = "#" + end + "# Topology file: generated" + end;
    for (const auto& [id, ports] : ports_) {
      const bool is_switch = id.front() == 'S';
      if (blank) text += end;
      text += "vendid=0x2c9" + end + "devid=0xd2f2" + end;
      const auto system = system_.find(id);
      text += "sysimgguid=0x" + (system == system_.end() ? id.substr(2) : system->second) + end;
      text += (is_switch ? "switchguid=0x" : "caguid=0x") + id.substr(2) + end;
      const std::string tab = tabs ? "\t" : "";
      text += (is_switch ? "Switch" : "Ca") + tab + "65 \"" + id + "\"" + tab + tab + "# \"" +
              description_.at(id) + "\" enhanced port 0 lid 7 lmc 0" + end;
      for (std::size_t p = 0; p < ports.size(); ++p) {
        const auto& [peer, peer_port] = ports[p];
        text += "[" + std::to_string(p + 1) + "]" + tab + "\"" + peer + "\"[" +
                std::to_string(peer_port) + "](abc) " + tab + tab + "# \"" + description_.at(peer) +
                "\" lid 9 " + speed_ + end;
      }
    }
    return text;
  }

 private:
  void Open(const std::string& id, const std::string& description, bool is_switch) {
    if (!description_.emplace(id, description).second) return;
    ports_[id];
    if (!is_switch) return;
  }
  void Join(const std::string& a, const std::string& b) {
    for (const std::string& id : {a, b}) {
      if (id.front() == 'S') Open(id, "MF0;sw" + id.substr(2) + ":MQM9700/U1", true);
    }
    const int port_a = static_cast<int>(ports_[a].size()) + 1;
    const int port_b = static_cast<int>(ports_[b].size()) + 1;
    ports_[a].push_back({b, port_b});
    ports_[b].push_back({a, port_a});
  }

  std::string speed_;
  std::map<std::string, std::string> description_, system_;
  std::map<std::string, std::vector<std::pair<std::string, int>>> ports_;
};

ImportedCluster Import(const std::string& text, std::optional<int> gpus = {}) {
  ImportOptions options;
  options.gpus_per_node = gpus;
  Result<ImportedCluster> cluster = ImportIbnetdiscover({"dump", text}, options);
  if (!cluster) {
    ADD_FAILURE() << cluster.error().message;
    return {};
  }
  return *std::move(cluster);
}

// "leaf: a=n1 n2; b=n3" for every level, widest first; "-" holds the nodes without.
std::string Tree(const ImportedCluster& cluster) {
  std::string text;
  for (const fabric::LevelSpec& level : cluster.fabric.levels) {
    std::map<std::string, std::string> domains;
    for (const fabric::NodeFacts& node : cluster.nodes) {
      const auto label = node.labels.find(level.label_key);
      domains[std::string(label == node.labels.end() ? "-" : label->second)] += " " + node.name;
    }
    text += level.name + ":";
    for (const auto& [domain, nodes] : domains) text += " " + domain + "=[" + nodes.substr(1) + "]";
    text += "\n";
  }
  return text;
}

bool HasNote(const ImportedCluster& cluster, const std::string& part) {
  for (const std::string& note : cluster.notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  ADD_FAILURE() << "no note says: " << part;
  return false;
}

// Two units of `hosts` hosts with two rails (leaves S-a1 S-a2, S-b1 S-b2) under one spine.
Dump TwoUnits(int hosts) {
  Dump dump;
  int guid = 0;
  for (const std::string unit : {"a", "b"}) {
    for (int h = 1; h <= hosts; ++h) {
      const std::string host = unit + std::to_string(h);
      dump.Wire(host + " mlx5_0", guid++, "S-" + unit + "1");
      dump.Wire(host + " mlx5_1", guid++, "S-" + unit + "2");
    }
    dump.Uplinks("S-" + unit + "1", "S-c1", 2).Uplinks("S-" + unit + "2", "S-c1", 2);
  }
  return dump;
}

TEST(ImportIbnetdiscover, GroupsNodesBySharedLeavesAndLeavesASingleSpineOutside) {
  const ImportedCluster cluster = Import(TwoUnits(4).Text());
  EXPECT_EQ(Tree(cluster), "leaf: swa1=[a1 a2 a3 a4] swb1=[b1 b2 b3 b4]\n");
  const fabric::LinkSpec inside{"InfiniBandNDR", {}, 100, {}};
  const fabric::LinkSpec outside{"InfiniBandNDR", {}, 200, {}};  // 4 ports down, 2 up
  EXPECT_EQ(cluster.fabric.levels[0].link, inside);
  EXPECT_EQ(cluster.fabric.outside, outside);
  EXPECT_EQ(cluster.fabric.rails, (fabric::RailsSpec{2, {"weft.dev/rail-0", "weft.dev/rail-1"}}));
  EXPECT_EQ(cluster.nodes[0].labels,
            (std::map<std::string, std::string>{{"kubernetes.io/hostname", "a1"},
                                                {"weft.dev/leaf", "swa1"},
                                                {"weft.dev/rail-0", "swa1"},
                                                {"weft.dev/rail-1", "swa2"}}));
  EXPECT_EQ(cluster.nodes[0].allocatable.at("nvidia.com/gpu"), 2);
  EXPECT_FALSE(cluster.fabric.scale_up);
}

TEST(ImportIbnetdiscover, ReadsTheSameFromFilesThatLostTabsBlankLinesOrLineEnds) {
  const Dump dump = TwoUnits(3);
  const std::string want = Tree(Import(dump.Text()));
  EXPECT_EQ(Tree(Import(dump.Text("\r\n"))), want);
  EXPECT_EQ(Tree(Import(dump.Text("\n", false))), want);
  EXPECT_EQ(Tree(Import(dump.Text("\r\n", false, false))), want);
}

TEST(ImportIbnetdiscover, IgnoresExternalPortNumbersAndChassisLines) {
  std::string text = TwoUnits(3).Text();
  const std::string want = Tree(Import(text));
  const std::size_t at = text.find("[1]");
  text.insert(at + 3, " [ext 17]");
  text.insert(text.find("\nvendid"), "\nChassis 1 (guid 0x1)");
  EXPECT_EQ(Tree(Import(text)), want);
}

// Two hosts whose second cards are wired to each other, beside the fabric; and a heading of -g.
TEST(ImportIbnetdiscover, ReadsHostsLinkedToEachOther) {
  const std::string plain = TwoUnits(3).Text();
  std::string text = plain + "Non-Chassis Nodes\n";
  for (const auto& [id, peer, host, peer_host] :
       {std::array{"H-901", "H-902", "a1", "a2"}, std::array{"H-902", "H-901", "a2", "a1"}}) {
    text += std::string("vendid=0x2c9\ncaguid=0x901\nCa\t1 \"") + id + "\"\t# \"" + host +
            " mlx5_9\"\n[1](1c34)\t\"" + peer + "\"[1] (1c35) \t\t# lid 9 lmc 0 \"" + peer_host +
            " mlx5_9\" lid 8 4xNDR\n";
  }
  EXPECT_EQ(Tree(Import(text)), Tree(Import(plain)));
}

TEST(ImportIbnetdiscover, DropsSharpAggregationNodes) {
  Dump dump = TwoUnits(3);
  dump.Wire("Mellanox Technologies Aggregation Node", 500, "S-c1");
  const ImportedCluster cluster = Import(dump.Text());
  EXPECT_EQ(Tree(cluster), Tree(Import(TwoUnits(3).Text())));
  EXPECT_TRUE(HasNote(cluster, "1 SHARP aggregation node left out"));
}

TEST(ImportIbnetdiscover, KeepsASpineWithAFewHostsASpine) {
  Dump dump = TwoUnits(4);
  dump.Wire("tank1 mlx4_0", 500, "S-c1").Wire("tank1 mlx4_0", 501, "S-c1");
  const ImportedCluster cluster = Import(dump.Text());
  EXPECT_EQ(Tree(cluster), "leaf: -=[tank1] swa1=[a1 a2 a3 a4] swb1=[b1 b2 b3 b4]\n");
  EXPECT_EQ(cluster.nodes.back().allocatable.count("nvidia.com/gpu"), 0U);
  EXPECT_TRUE(HasNote(cluster, "1 of 9 hosts are on no leaf switch"));
  EXPECT_TRUE(HasNote(cluster, "several HCAs have the same description: tank1 mlx4_0"));
}

TEST(ImportIbnetdiscover, ToleratesMissingRailsAndAttachesTheOneUnnamedHcaThatFits) {
  Dump dump;
  int guid = 0;
  for (int h = 1; h <= 4; ++h) {
    for (int rail = 0; rail < 4; ++rail) {
      if (h == 2 && rail == 3) continue;
      const std::string device = " mlx5_" + std::to_string(rail);
      dump.Wire("n" + std::to_string(h) + device, guid++, "S-" + std::to_string(rail + 1));
    }
  }
  const std::string missing = dump.Text();
  const ImportedCluster without = Import(missing);
  EXPECT_EQ(Tree(without), "leaf: sw1=[n1 n2 n3 n4]\n");
  EXPECT_FALSE(without.nodes[1].labels.contains("weft.dev/rail-3"));
  EXPECT_TRUE(HasNote(without, "1 of 4 hosts have fewer than the usual 4 HCAs: n2"));

  dump.Wire("MT4129 ConnectX7   Mellanox Technologies", 900, "S-4");
  const ImportedCluster with = Import(dump.Text());
  EXPECT_EQ(with.nodes[1].labels.At("weft.dev/rail-3"), "sw4");
  EXPECT_TRUE(HasNote(with, "1 unnamed HCA attached"));

  // A second one: a host without any name may own either, so neither is attached.
  dump.Wire("MT4129 ConnectX7   Mellanox Technologies", 901, "S-3");
  const ImportedCluster two = Import(dump.Text());
  EXPECT_FALSE(two.nodes[1].labels.contains("weft.dev/rail-3"));
  EXPECT_TRUE(HasNote(two, "2 of 17 HCAs carry a factory description"));
}

TEST(ImportIbnetdiscover, AttachesAnUnnamedPortOfANamedCard) {
  Dump dump = TwoUnits(3);
  dump.Wire("MT4129 ConnectX7   Mellanox Technologies", 700, "S-b1");
  dump.System("H-1700", "1000");  // the card of a1's first HCA
  EXPECT_TRUE(HasNote(Import(dump.Text()), "1 unnamed HCA attached"));
}

TEST(ImportIbnetdiscover, FindsThreeTiersWithPodsThatShareTheirSpines) {
  Dump dump;
  int guid = 0;
  for (int leaf = 1; leaf <= 4; ++leaf) {
    const std::string id = "S-1" + std::to_string(leaf);
    for (int h = 1; h <= 4; ++h) {
      dump.Wire("n" + std::to_string(leaf) + std::to_string(h) + " mlx5_0", guid++, id);
    }
    dump.Uplinks(id, leaf <= 2 ? "S-21" : "S-22", 2);
  }
  dump.Uplinks("S-21", "S-31", 2).Uplinks("S-22", "S-31", 2);
  const ImportedCluster cluster = Import(dump.Text(), 1);
  EXPECT_EQ(Tree(cluster),
            "spine: sw21=[n11 n12 n13 n14 n21 n22 n23 n24] "
            "sw22=[n31 n32 n33 n34 n41 n42 n43 n44]\n"
            "leaf: sw11=[n11 n12 n13 n14] sw12=[n21 n22 n23 n24] sw13=[n31 n32 n33 n34] "
            "sw14=[n41 n42 n43 n44]\n");
  EXPECT_EQ(cluster.fabric.levels[0].link->oversubscription_percent, 200);
  EXPECT_EQ(cluster.fabric.outside->oversubscription_percent, 400);  // 2:1 twice
  EXPECT_FALSE(cluster.fabric.rails);
}

TEST(ImportIbnetdiscover, TakesTheChipsOfADirectorForOneSwitch) {
  Dump dump;
  int guid = 0;
  for (int leaf = 1; leaf <= 2; ++leaf) {
    const std::string id = "S-1" + std::to_string(leaf);
    for (int h = 1; h <= 4; ++h) {
      dump.Wire("n" + std::to_string(leaf) + std::to_string(h) + " mlx5_0", guid++, id);
    }
    dump.Uplinks(id, "S-2" + std::to_string(leaf), 4);  // a line card each
    dump.Uplinks("S-2" + std::to_string(leaf), "S-30", 4);
  }
  for (const std::string chip : {"S-21", "S-22", "S-30"}) dump.System(chip, "77");
  const ImportedCluster cluster = Import(dump.Text());
  EXPECT_EQ(Tree(cluster), "leaf: sw11=[n11 n12 n13 n14] sw12=[n21 n22 n23 n24]\n");
  EXPECT_TRUE(HasNote(cluster, "3 switches (2 leaf, 1 spine)"));
}

TEST(ImportIbnetdiscover, SharesThePortsAmongTheAcceleratorsOfANode) {
  const ImportedCluster cluster = Import(TwoUnits(4).Text(), 8);
  const fabric::LinkSpec want{"InfiniBandNDR", 12'500'000'000, 100, {}};  // 2 x 50 GB/s for 8
  EXPECT_EQ(cluster.fabric.levels[0].link, want);
}

struct BadCase {
  std::string name, text, want;
};
class ImportIbnetdiscoverBad : public ::testing::TestWithParam<BadCase> {};

TEST_P(ImportIbnetdiscoverBad, NamesTheLine) {
  const auto got = ImportIbnetdiscover({"dump", GetParam().text}, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message, GetParam().want);
}

// clang-format off
const std::string kOpen = "vendid=0x2c9\nsysimgguid=0x1\nSwitch\t65 \"S-1\"\t# \"MF0;a:M/U1\"\n";
INSTANTIATE_TEST_SUITE_P(Table, ImportIbnetdiscoverBad, ::testing::ValuesIn(std::vector<BadCase>{
  {"AnEmptyText", "", "dump: no Switch and no Ca record: not an ibnetdiscover dump"},
  {"AnotherFormat", "{\"a\": 1}", "dump: line 1: not a line of an ibnetdiscover dump: \"{\"a\": 1}\""},
  {"APortBeforeAnyRecord", "[1]\t\"H-1\"[1]", "dump: line 1: a port outside a Switch or Ca record"},
  {"ACutPeer", kOpen + "[1]\t\"H-12", "dump: line 4: the peer's \"S-GUID\" or \"H-GUID\" is missing"},
  {"ACutPort", kOpen + "[1", "dump: line 4: the port number is missing"},
  {"AHugePort", kOpen + "[99999999999]\t\"H-1\"[1] # \"x\"", "dump: line 4: the port number is missing"},
  {"ACutDescription", kOpen + "[1]\t\"H-1\"[1] # \"x", "dump: line 4: the description has no closing quote"},
  {"ACutRecord", "Switch\t65 \"S-1\"", "dump: line 1: the description after '#' is missing"},
  {"ASecondRecord", kOpen + kOpen, "dump: line 6: \"S-1\" has a second record"},
  {"ASwitchThatIsAHost", "Switch 65 \"H-1\" # \"x\"", "dump: line 1: \"H-1\" is not the GUID of this kind of record: a Switch has an S-GUID, a Ca an H-GUID"},
  {"ABadGuid", "sysimgguid=12", "dump: line 1: sysimgguid is not a GUID: \"12\""},
  {"AListWithoutLinks", "Ca\t : 0x1c34da0300000001 ports 1 devid 0x1013 vendid 0x2c9 \"a HCA-1\"",
   "dump: line 1: a list of devices without links (ibnetdiscover -l, -H, -S or -R): run ibnetdiscover without it"},
  {"NoHost", kOpen, "dump: no HCA has a host's name"},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(ImportIbnetdiscover, ReadsTheRealGb200Dump) {
  const std::string path =
      WEFT_SOURCE_DIR "/../shared/data/topology/topograph/gb200-ndr.ibnetdiscover";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "NOT TESTED: the real GB200 dump is absent: " << path;
  std::stringstream text;
  text << file.rdbuf();
  const ImportedCluster cluster = Import(text.str(), 4);
  std::map<std::string, int> domains, accelerators;
  int degraded = 0;
  for (const fabric::NodeFacts& node : cluster.nodes) {
    ++domains[std::string(*node.labels.At("weft.dev/leaf"))];
    int rails = 0;
    for (int r = 0; r < 4; ++r) {
      rails += static_cast<int>(node.labels.contains("weft.dev/rail-" + std::to_string(r)));
    }
    if (rails < 4) ++degraded;
    const auto gpus = node.allocatable.find("nvidia.com/gpu");
    accelerators[std::to_string(gpus == node.allocatable.end() ? 0 : gpus->second)]++;
  }
  EXPECT_EQ(cluster.nodes.size(), 122U);
  EXPECT_EQ(domains, (std::map<std::string, int>{{"A09-P1-IBLEAF-01-01", 11},
                                                 {"A09-P1-IBLEAF-01-02", 11},
                                                 {"A09-P1-IBLEAF-01-03", 18},
                                                 {"A09-P1-IBLEAF-01-04", 17},
                                                 {"B09-P1-IBLEAF-01-05", 18},
                                                 {"B09-P1-IBLEAF-01-06", 15},
                                                 {"B09-P1-IBLEAF-01-07", 16},
                                                 {"B09-P1-IBLEAF-01-08", 16}}));
  EXPECT_EQ(degraded, 13);
  EXPECT_EQ(accelerators, (std::map<std::string, int>{{"0", 2}, {"4", 120}}));
  EXPECT_TRUE(HasNote(cluster, "40 switches (31 leaf, 9 spine), 122 named hosts, 542 HCAs"));
  EXPECT_TRUE(HasNote(cluster, "40 SHARP aggregation nodes left out"));
  EXPECT_TRUE(HasNote(cluster, "69 of 542 HCAs carry a factory description"));
  EXPECT_TRUE(HasNote(cluster, "13 of 122 hosts have fewer than the usual 4 HCAs"));
  EXPECT_TRUE(HasNote(cluster, "no accelerators: b11-p1-cufm-02, ubuntu"));
  // Rack 1 lacks the leaf of rail 2; the others keep their numbers.
  EXPECT_EQ(cluster.nodes[0].labels.At("weft.dev/rail-3"), "A09-P1-IBLEAF-04-01");
  EXPECT_FALSE(cluster.nodes[0].labels.contains("weft.dev/rail-2"));
}

}  // namespace
}  // namespace weft::import
