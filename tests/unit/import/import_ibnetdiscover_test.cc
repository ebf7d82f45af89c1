#include "operator/import/import_ibnetdiscover.h"

#include <array>
#include <fstream>
#include <iostream>
#include <sstream>

#include "gtest/gtest.h"
#include "operator/import/import_ib_dump.h"
#include "tests/support/source_dir.h"

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
  // The report of ports of the same fabric, as -p prints it, with a last port of each that is down.
  std::string Report() const {
    std::string text;
    const auto end = [](const std::string& id, std::size_t port) {
      const std::string guid = id.substr(2);
      return std::string(id.front() == 'S' ? "SW" : "CA") + "    21 " + (port < 10 ? " " : "") +
             std::to_string(port) + " 0x" + std::string(16 - guid.size(), '0') + guid;
    };
    const std::string speed = speed_.substr(0, 2) + " " + speed_.substr(2);
    for (const auto& [id, ports] : ports_) {
      const std::string name = description_.at(id);
      text += end(id, ports.size() + 1) + " 4x ??? " + std::string(36, ' ') + "'" + name + "'\n";
      for (std::size_t p = ports.size(); p-- > 0;) {
        const auto& [peer, peer_port] = ports[p];
        text += end(id, p + 1) + " " + speed + " - " +
                end(peer, static_cast<std::size_t>(peer_port)) + " ( '" + name + "' - '" +
                description_.at(peer) + "' )\n";
      }
    }
    return text;
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

// A Ca record whose port is linked to the other Ca's, in the words of out_ca_port.
std::string BackToBack(const std::string& host, const std::string& guid, const std::string& peer,
                       const std::string& peer_guid) {
  return "\nvendid=0x2c9\ndevid=0x1013\nsysimgguid=0x" + guid + "\ncaguid=0x" + guid +
         "\nCa\t1 \"H-" + guid + "\"\t\t# \"" + host + " mlx5_9\"\n[1](" + guid + ") \t\"H-" +
         peer_guid + "\"[1] (" + peer_guid + ") \t\t# lid 901 lmc 0 \"" + peer +
         " mlx5_9\" lid 902 4xEDR\n";
}

// Pairs of hosts whose second cards are wired to each other, beside the fabric.
TEST(ImportIbnetdiscover, LeavesOutLinksBetweenHostsBesideAFabric) {
  const std::string plain = TwoUnits(2).Text();
  std::string text = plain;
  for (const std::string unit : {"a", "b"}) {
    text += BackToBack(unit + "1", "c1" + unit, unit + "2", "c2" + unit);
    text += BackToBack(unit + "2", "c2" + unit, unit + "1", "c1" + unit);
  }
  const ImportedCluster cluster = Import(text), want = Import(plain);
  EXPECT_EQ(Tree(cluster), Tree(want));
  EXPECT_EQ(cluster.nodes[0].allocatable, want.nodes[0].allocatable);
  EXPECT_EQ(cluster.fabric.levels[0].link, want.fabric.levels[0].link);
  EXPECT_TRUE(HasNote(cluster, "4 HCAs linked to other HCAs and to no switch left out"));
}

TEST(ImportIbnetdiscover, GivesHostsThatAreLinkedToEachOtherAFabricWithoutLevels) {
  const ImportedCluster cluster =
      Import(BackToBack("s1", "c1", "s2", "c2") + BackToBack("s2", "c2", "s1", "c1"));
  EXPECT_TRUE(cluster.fabric.levels.empty());
  EXPECT_EQ(cluster.fabric.outside, (fabric::LinkSpec{"InfiniBandEDR", {}, 100, {}}));
  ASSERT_EQ(cluster.nodes.size(), 2U);
  EXPECT_EQ(cluster.nodes[0].allocatable.at("nvidia.com/gpu"), 1);
  EXPECT_EQ(cluster.warnings, std::vector<std::string>{});
  EXPECT_TRUE(HasNote(cluster, "no switch: the hosts are linked to each other"));
}

// All that -g adds: headings, [ext N], chassis after the GUIDs and a slot.
TEST(ImportIbnetdiscover, ReadsADumpGroupedByChassis) {
  const auto record = [](const std::string& guid, const std::string& chassis) {
    return "\nvendid=0x8f1\ndevid=0x5a37\nsysimgguid=0x8f1" + guid + chassis + "\n";
  };
  const std::string text =
      "#\n# Topology file: generated on Mon Mar  2 12:34:08 2026\n#\n"
      "# Max of 3 hops discovered\n# Initiated from node 1 port 1\n"
      "\nChassis 1 (guid 0x8f10001)\nHostname: io-1\n\n# Spine Nodes" +
      record("1", "\t\t# Chassis 1") +
      "switchguid=0x51(51)\t# ISR9024D spine 1 chip 1\n"
      "Switch\t24 \"S-0000000000000051\"\t\t# \"spine\" base port 0 lid 8 lmc 0\n"
      "[1][ext 13]\t\"S-0000000000000052\"[2][ext 5]\t\t# \"line\" lid 6 4xSDR\n"
      "\n# Line Nodes" +
      record("1", "\t\t# Chassis 1 (io-1) slot 4") +
      "switchguid=0x52(52)\t# ISR9024D line 1 chip 1\n"
      "Switch\t24 \"S-0000000000000052\"\t\t# \"line\" base port 0 lid 6 lmc 0\n"
      "[2][ext 5]\t\"S-0000000000000051\"[1][ext 13]\t\t# \"spine\" lid 8 4xSDR\n"
      "[3][ext 1]\t\"H-0000000000000061\"[1](62) \t\t# \"n1 HCA-1\" lid 4 4xSDR (scp)\n"
      "[4]\t\"H-0000000000000071\"[1](72) \t\t# \"n2 HCA-1\" lid 5 4xSDR slot 4\n"
      "[5]\t\"R-0000000000000091\"[1](92) \t\t# \"router\" lid 9 4xSDR\n"
      "\n# Chassis Switches\n# Chassis CAs" +
      record("6", "\t\t# Chassis 1") +
      "caguid=0x61\nCa\t2 \"H-0000000000000061\"\t\t# \"n1 HCA-1\" (scp)\n"
      "[1](62) \t\"S-0000000000000052\"[3][ext 1]\t\t# lid 4 lmc 0 \"line\" lid 6 4xSDR\n"
      "\nNon-Chassis Nodes\n"
      "\nvendid=0x8f1\ndevid=0x6274\n\t\t# Chassis 2\n"
      "caguid=0x71\nCa\t2 \"H-0000000000000071\"\t\t# \"n2 HCA-1\"\n"
      "[1](72) \t\"S-0000000000000052\"[4]\t\t# lid 5 lmc 0 \"line\" lid 6 4xSDR s=1 w=2 v=5\n" +
      record("9", "") +
      "rtguid=0x91\nRt\t1 \"R-0000000000000091\"\t\t# \"router\"\n"
      "[1](92) \t\"S-0000000000000052\"[5]\t\t# lid 9 lmc 0 \"line\" lid 6 4xSDR\n";
  const ImportedCluster cluster = Import(text);
  EXPECT_EQ(Tree(cluster), "leaf: spine=[n1 n2]\n");  // both chips are one switch
  EXPECT_EQ(cluster.warnings, std::vector<std::string>{});
  EXPECT_TRUE(HasNote(cluster, "1 switches (1 leaf), 2 named hosts, 2 HCAs"));
}

TEST(ImportIbnetdiscover, ReadsTheSameFromAReportOfPorts) {
  const Dump dump = TwoUnits(3);
  const ImportedCluster report = Import(dump.Report()), want = Import(dump.Text());
  EXPECT_EQ(Tree(report), Tree(want));
  EXPECT_EQ(report.fabric, want.fabric);
  EXPECT_EQ(report.nodes[0].allocatable, want.nodes[0].allocatable);
  EXPECT_EQ(report.warnings, std::vector<std::string>{});

  // Both ports of a card have GUIDs of their own and are one HCA.
  const std::string leaf = " 4x EDR - SW    10  ";
  const std::string text =
      "CA     3  2 0x0000000000000012" + leaf + "2 0x00000000000000a1 ( 'n1 HCA-1' - 'a' )\n" +
      "CA     2  1 0x0000000000000011" + leaf + "1 0x00000000000000a1 ( 'n1 HCA-1' - 'a' )\n" +
      "CA     4  1 0x0000000000000021" + leaf + "3 0x00000000000000a1 ( 'n2 HCA-1' - 'a' )\n" +
      "RT     5  1 0x0000000000000031" + leaf + "4 0x00000000000000a1 ( 'r' - 'a' )\n" +
      "CA     6  1 0x0000000000000041 ?? EDR - SW    10  6 0x00000000000000a1 ( 'n3 HCA-1' - 'a' "
      ")\n" +
      "SW    10  4 0x00000000000000a1 4x EDR - CA     3  2 0x0000000000000012\n" +
      "SW    10  3 0x00000000000000a1 4x EDR - CA     4  1 0x0000000000000021 ( 'a' - 'n2 HCA-1' "
      ")\n";
  const ImportedCluster cards = Import(text);
  EXPECT_TRUE(HasNote(cards, "1 switches (1 leaf), 3 named hosts, 3 HCAs"));
  EXPECT_EQ(cards.warnings,
            (std::vector<std::string>{"dump: line 6: the names of both ends, ( 'NEAR' - 'FAR' ), "
                                      "are missing (the line is left out)"}));
}

struct BrokenCase {
  std::string name, before, with, warning;
};
class ImportIbnetdiscoverBroken : public ::testing::TestWithParam<BrokenCase> {};

// Both ends print a link, so a broken line costs nothing but a warning.
TEST_P(ImportIbnetdiscoverBroken, LeavesOutTheLineWithAWarning) {
  const std::string plain = TwoUnits(3).Text();
  std::string text = plain;
  const std::size_t at = text.find(GetParam().before);
  ASSERT_NE(at, std::string::npos);
  const auto line = std::to_string(
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  text.replace(at, GetParam().before.size(), GetParam().with);
  const ImportedCluster cluster = Import(text);
  EXPECT_EQ(Tree(cluster), Tree(Import(plain)));
  EXPECT_EQ(cluster.warnings, (std::vector{"dump: line " + line + ": " + GetParam().warning}));
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, ImportIbnetdiscoverBroken, ::testing::ValuesIn(std::vector<BrokenCase>{
  {"APortOfASwitch", "[2]\t\"H-1002\"[1](abc)", "[2]\t\"H-10", "the peer's \"S-GUID\" or \"H-GUID\" is missing (the line is left out)"},
  {"ALineOfASwitch", "Switch\t65 \"S-a1\"", "Switch\t \"S-a1\"", "the number of ports is missing (the line is left out)"},
  {"AWordOfASwitch", "Switch\t65 \"S-b1\"", "Swi$ch\t65 \"S-b1\"", "not a line of an ibnetdiscover dump: \"Swi$ch?65 \"S-b1\"??# \"MF0;swb1:MQM9700/U1\" enhanced port 0 li...\" (the line is left out)"},
  {"ALineOfACa", "Ca\t65 \"H-1000\"\t\t# \"a1 mlx5_0\"", "Ca\t65 \"H-1000\"\t\t# \"a1 ml", "the description has no closing quote (the line is left out)"},
  {"AnAttribute", "devid=0xd2f2", "model=7", "unknown attribute \"model\" (the line is left out)"},
  {"AMessageOfTheTool", "devid=0xd2f2", "src/query_smp.c:228; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110",
   "ibnetdiscover reports an error, so parts of the fabric may be missing: \"src/query_smp.c:228; umad (DR path slid 0; dlid 0; 0,1 Attr ...\" (left out)"},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(ImportIbnetdiscover, ReadsTwoDumpsInOneFileAndOneWithoutItsEnd) {
  const std::string plain = TwoUnits(3).Text();
  const ImportedCluster twice = Import(plain + plain);
  EXPECT_EQ(Tree(twice), Tree(Import(plain)));
  EXPECT_EQ(twice.warnings, std::vector<std::string>{});
  // The records of hosts come first here; the switches are known from their links.
  const ImportedCluster cut = Import(plain.substr(0, plain.find("Switch") + 3));
  EXPECT_EQ(Tree(cut), "leaf: swa1=[a1 a2 a3] swb1=[b1 b2 b3]\n");
  EXPECT_EQ(cut.warnings.size(), 1U);
}

TEST(ImportIbnetdiscover, IgnoresTheProgressOfTheTool) {
  const std::string plain = TwoUnits(3).Text();
  const ImportedCluster cluster = Import(
      "DR path slid 0; dlid 0; 0,1 -> new switch {00000000000000a1} portnum 0 lid 5-5 \"a\"\n" +
      plain);
  EXPECT_EQ(Tree(cluster), Tree(Import(plain)));
  EXPECT_EQ(cluster.warnings, std::vector<std::string>{});
}

TEST(ImportIbnetdiscover, RecognisesEveryFormOfItsText) {
  const Dump dump = TwoUnits(1);
  for (const std::string& text :
       {dump.Text(), "ibwarn: [7] x\n" + dump.Report(), std::string("Ca\t1 \"H-1\"\t# \"a b\"\n"),
        std::string("Switch\t : 0x1 ports 36 devid 0x1 vendid 0x2 \"a\"\n"),
        std::string("< vendid=0x2c9\n")}) {
    EXPECT_TRUE(LooksLikeIbnetdiscover(text)) << text;
  }
  for (const char* text : {"", "#\n", "SW,CA\n", "SWITCHES 12 13\n", "Switches:\n  a: {}\n"}) {
    EXPECT_FALSE(LooksLikeIbnetdiscover(text)) << text;
  }
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

// Four hosts, and half as many links to the spine.
void AddLeaf(Dump& dump, int leaf, const std::string& spine) {
  const std::string id = "S-1" + std::to_string(leaf);
  for (int h = 1; h <= 4; ++h) {
    const std::string host = "n" + std::to_string(leaf) + std::to_string(h);
    dump.Wire(host + " mlx5_0", 4 * leaf + h - 5, id);
  }
  dump.Uplinks(id, spine, 2);
}

TEST(ImportIbnetdiscover, FindsThreeTiersWithPodsThatShareTheirSpines) {
  Dump dump;
  for (int leaf = 1; leaf <= 4; ++leaf) AddLeaf(dump, leaf, leaf <= 2 ? "S-21" : "S-22");
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

// Each leaf with a spine of its own: the tier of spines has the same domains as that of leaves.
TEST(ImportIbnetdiscover, LeavesOutATierOfTheSameDomains) {
  Dump dump;
  for (int leaf = 1; leaf <= 4; ++leaf) AddLeaf(dump, leaf, "S-2" + std::to_string(leaf));
  for (int spine = 1; spine <= 4; ++spine) {
    dump.Uplinks("S-2" + std::to_string(spine), spine <= 2 ? "S-31" : "S-32", 2);
  }
  const char* leaves =
      "leaf: sw11=[n11 n12 n13 n14] sw12=[n21 n22 n23 n24] sw13=[n31 n32 n33 n34] "
      "sw14=[n41 n42 n43 n44]\n";
  EXPECT_EQ(
      Tree(Import(Dump(dump).Uplinks("S-31", "S-41", 1).Uplinks("S-32", "S-41", 1).Text(), 1)),
      std::string("spine: sw31=[n11 n12 n13 n14 n21 n22 n23 n24] "
                  "sw32=[n31 n32 n33 n34 n41 n42 n43 n44]\n") +
          leaves);
  EXPECT_EQ(Tree(Import(dump.Uplinks("S-31", "S-32", 1).Text(), 1)).substr(0, 6), "spine:");
}

// The dump with another speed on the lines of links to hosts.
std::string WithHostSpeed(const std::string& dump, const std::string& speed) {
  std::istringstream in(dump);
  std::string text;
  bool host = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("Ca")) host = true;
    if (line.starts_with("Switch")) host = false;
    const bool of_host = line.starts_with("[") && (host || line.find("\"H-") != line.npos);
    if (of_host) line.replace(line.rfind(' ') + 1, line.npos, speed);
    text += line + "\n";
  }
  return text;
}

// Half of the ports lead up: at one speed that is enough.
TEST(ImportIbnetdiscover, OversubscriptionCountsTheSpeedsOfPorts) {
  Dump dump;
  for (int leaf = 1; leaf <= 2; ++leaf) AddLeaf(dump, leaf, "S-21");
  const auto percent = [&](const std::string& speed) {
    return Import(WithHostSpeed(dump.Text(), speed), 1).fabric.outside->oversubscription_percent;
  };
  EXPECT_EQ(percent("4xNDR"), 200);
  EXPECT_EQ(percent("2xNDR"), 100);
  EXPECT_EQ(percent("4xXDR"), 400);
  EXPECT_EQ(percent("4xHDR"), 100);
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
  {"ARouterThatIsAHost", "Ca 65 \"R-1\" # \"x\"", "dump: line 1: \"R-1\" is not the GUID of this kind of record: a Switch has an S-GUID, a Ca an H-GUID"},
  {"ADifference", "\n< vendid=0x2c9\n< Ca\t1 \"H-1\"", "dump: line 2: a difference of two fabrics (ibnetdiscover --diff): run ibnetdiscover without it"},
  {"AReportWithoutDevices", "RT     5  1 0x31 4x EDR - SW    10  4 0xa1 ( 'r' - 'a' )", "dump: no port of a switch or CA"},
  {"ACutReport", "CA     5  1 0x31 4x", "dump: line 1: the speed of the link is missing"},
  {"ASwitchThatIsAHost", "Switch 65 \"H-1\" # \"x\"", "dump: line 1: \"H-1\" is not the GUID of this kind of record: a Switch has an S-GUID, a Ca an H-GUID"},
  {"ABadGuid", "sysimgguid=12", "dump: line 1: sysimgguid is not a GUID: \"12\""},
  {"AListWithoutLinks", "Ca\t : 0x1c34da0300000001 ports 1 devid 0x1013 vendid 0x2c9 \"a HCA-1\"",
   "dump: line 1: a list of devices without links (ibnetdiscover -l, -H, -S or -R): run ibnetdiscover without it"},
  {"NoHost", kOpen, "dump: no HCA has a host's name"},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(ImportIbnetdiscover, ReadsTheRealGb200Dump) {
  const std::string path =
      testing::SourceDir() + "/../shared/data/topology/topograph/gb200-ndr.ibnetdiscover";
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
