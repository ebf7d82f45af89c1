#include "operator/render/fabric_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/render/planned.h"

namespace weft::render {
namespace {

using testing::FabricShape;
using testing::FourNodes;
using testing::Leaves;
using testing::Scene;
using testing::Spines;

// The tree alone.
std::string Tree(const FabricShape& shape, bool nodes = false, int columns = 100) {
  const cluster::Cluster cluster = Used(shape).Build();
  return DomainTree(cluster.fabrics[0].claims, Plain(columns), {.nodes = nodes});
}

TEST(FabricTextTest, ShowsLinksTreeAndNodesThatTakeNothing) {
  FabricShape shape = FourNodes();
  shape.nodes[0].unschedulable = true;
  shape.nodes[1].conditions = {{"Ready", "False"}};
  shape.nodes.push_back({.name = "n4", .domains = {"s0", ""}});
  const cluster::Cluster cluster = Scene(shape).Build();
  EXPECT_EQ(FabricText(cluster.fabrics[0], {}, {}),
            R"(Fabric default
LEVEL    DOMAINS  LINK    PER GPU  OVERSUBSCRIBED  BANDWIDTH
outside        1  -     12.5 GB/s           100 %  declared
spine          1  -       25 GB/s           100 %  declared
leaf           2  -       50 GB/s           100 %  declared
node           4  -      900 GB/s           100 %  declared

default: 4 nodes, 32 GPUs, 16 free, 1 node unusable, 1 cordoned
  s0: 4 nodes, 32 GPUs, 16 free, 1 node unusable, 1 cordoned
    l0: 2 nodes, 16 GPUs, 0 free, 1 node unusable, 1 cordoned
      unusable: n1
      cordoned: n0
    l1: 2 nodes, 16 GPUs, 16 free
      8/8 free: n[2,3]

Incomplete nodes, never used (1):
  no leaf (test/leaf): n4
Unusable nodes (1):
  not Ready: n1
Cordoned nodes (1):
  n0
)");
}

TEST(FabricTextTest, NetworksBesideTheLevelsStandBeforeTheNode) {
  FabricShape shape = FourNodes();
  shape.scale_up = true;
  shape.torus = {{"", 4, true}, {"", 2, false}};
  shape.torus_level = "spine";
  for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
    shape.nodes[n].scale_up = n % 2 == 0 ? "v0" : "v1";
    shape.nodes[n].torus = {static_cast<int>(n), 1};
  }
  const cluster::Cluster cluster = Scene(shape).Build();
  const std::string text = FabricText(cluster.fabrics[0], {}, {});
  EXPECT_EQ(text.substr(0, text.find("\n\n")), R"(Fabric default
LEVEL    DOMAINS  LINK    PER GPU  OVERSUBSCRIBED  BANDWIDTH
outside        1  -     12.5 GB/s           100 %  declared
spine          1  -       25 GB/s           100 %  declared
leaf           2  -       50 GB/s           100 %  declared
nvlink         2  -      900 GB/s           100 %  declared
torus          1  -      600 GB/s           100 %  declared
node           4  -      900 GB/s           100 %  declared
Each spine is a torus of 4 x 2 nodes that does not wrap along test/torus-1. A byte pays the torus
link once for each hop.)");
}

TEST(FabricTextTest, NamesTheTorusesOfAnotherShape) {
  FabricShape shape = FourNodes();
  shape.torus = {{"", 4, true}, {"", 2, true}};
  shape.torus_level = "leaf";
  shape.torus_shapes = {{{"l1", "l2", "l3"}, {8, 8}, {}}, {{"x"}, {16, 1}, {false, true}}};
  for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
    shape.nodes[n].torus = {static_cast<int>(n), 1};
  }
  const cluster::Cluster cluster = Scene(shape).Build();
  const std::string text = FabricText(cluster.fabrics[0], {}, {});
  const std::size_t line = text.find("Each leaf");
  ASSERT_NE(line, std::string::npos);
  EXPECT_EQ(
      text.substr(line, text.find("\n\n") - line),
      "Each leaf is a torus of 4 x 2 nodes, except l[1-3] (8 x 8) and x (16 x 1, does not wrap "
      "along\ntest/torus-0). A byte pays the torus link once for each hop.");
}

TEST(FabricTextTest, EveryNodeHasALineWhereThatIsAskedFor) {
  FabricShape shape = Leaves({{8, 3}, {0, 8}});
  shape.nodes[0].unschedulable = true;
  shape.nodes[3].conditions = {{"Ready", "Unknown"}};
  EXPECT_EQ(Tree(shape, true), R"(default: 4 nodes, 32 GPUs, 3 free, 1 node unusable, 1 cordoned
  s0: 4 nodes, 32 GPUs, 3 free, 1 node unusable, 1 cordoned
    l0: 2 nodes, 16 GPUs, 3 free, 1 node cordoned
      n0: 8 GPUs, cordoned
      n1: 8 GPUs, 3 free
    l1: 2 nodes, 16 GPUs, 0 free, 1 node unusable
      n2: 8 GPUs, 0 free
      n3: 8 GPUs, unusable: not Ready
)");
}

TEST(FabricTextTest, DomainsThatLookAlikeShareALine) {
  // Two spines of alike leaves, whatever the order of nodes in them, and one that is different.
  EXPECT_EQ(Tree(Spines({{{{8, 4}}, {{4, 8}}}, {{{8, 4}}, {{4, 8}}}, {{{8, 8}}}}, false)),
            R"(default: 10 nodes, 80 GPUs, 64 free
  s[0,1]: each 4 nodes, 32 GPUs, 24 free
    l[0-3]: each 2 nodes, 16 GPUs, 12 free
      8/8 free: n[0,3,4,7]
      4/8 free: n[1,2,5,6]
  s2: 2 nodes, 16 GPUs, 16 free
    l4: 2 nodes, 16 GPUs, 16 free
      8/8 free: n[8,9]
)");
}

TEST(FabricTextTest, AsManyFreeOnOtherNodesLooksDifferent) {
  EXPECT_EQ(Tree(Leaves({{8, 0}, {4, 4}})), R"(default: 4 nodes, 32 GPUs, 16 free
  s0: 4 nodes, 32 GPUs, 16 free
    l0: 2 nodes, 16 GPUs, 8 free
      8/8 free: n0
      0/8 free: n1
    l1: 2 nodes, 16 GPUs, 8 free
      4/8 free: n[2,3]
)");
}

TEST(FabricTextTest, AlikeDomainsWithNodesThatTakeNothingSayHowManyInAll) {
  FabricShape shape = Leaves({{8, 8}, {8, 8}});
  shape.nodes[1].unschedulable = true;
  shape.nodes[2].unschedulable = true;
  EXPECT_EQ(Tree(shape), R"(default: 4 nodes, 32 GPUs, 16 free, 2 nodes cordoned
  s0: 4 nodes, 32 GPUs, 16 free, 2 nodes cordoned
    l[0,1]: each 2 nodes, 16 GPUs, 8 free; in all 2 nodes cordoned
      8/8 free: n[0,3]
      cordoned: n[1,2]
)");
}

TEST(FabricTextTest, AScaleUpDomainThatIsItsLeafHasNoLine) {
  EXPECT_EQ(Tree(Spines({{{{8}}, {{8, 0}}}})), R"(default: 3 nodes, 24 GPUs, 16 free
  s0: 3 nodes, 24 GPUs, 16 free
    l0: 1 node, 8 GPUs, 8 free
      8/8 free: n0
    l1: 2 nodes, 16 GPUs, 8 free
      8/8 free: n1
      0/8 free: n2
)");
  EXPECT_EQ(Tree(Spines({{{{8}, {0}}}})), R"(default: 2 nodes, 16 GPUs, 8 free
  s0: 2 nodes, 16 GPUs, 8 free
    l0: 2 nodes, 16 GPUs, 8 free
      v0: 1 node, 8 GPUs, 8 free
        8/8 free: n0
      v1: 1 node, 8 GPUs, 0 free
        0/8 free: n1
)");
}

// So many leaves of three nodes that look different.
FabricShape Fragmented(int leaves) {
  std::vector<testing::FreePerNode> free;
  for (int l = 0; l < leaves; ++l) free.push_back({l % 9, 8 - l / 9 % 9, l / 27 % 9});
  return Leaves(free);
}

std::ptrdiff_t Lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(FabricTextTest, NodesAreLeftOutWhereLinesRunShort) {
  const std::string text = Tree(Fragmented(40));
  EXPECT_EQ(text.find("/8 free: "), std::string::npos);
  EXPECT_NE(text.find("    l9: 3 nodes, 24 GPUs, 7 free\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n(folded to be short; --nodes lists all)\n"), std::string::npos);
  EXPECT_LE(Lines(text), 60);
}

TEST(FabricTextTest, AFabricOfManyDomainsIsToldByWhatIsWhollyPartlyAndNotFree) {
  FabricShape shape = Fragmented(126);
  shape.nodes[10].unschedulable = true;
  for (std::size_t n = 360; n < 372; ++n) shape.nodes[n].used = 0;
  EXPECT_EQ(Tree(shape), R"(default: 378 nodes, 3,024 GPUs, 1,370 free, 1 node cordoned
  s0: 378 nodes, 3,024 GPUs, 1,370 free, 1 node cordoned
    l[0-119,124,125]: each 3 nodes, 24 GPUs, 2-19 free; in all 1,274 free, 1 node cordoned
    l[120-123]: each 3 nodes, 24 GPUs, 24 free
(folded to be short; --nodes lists all)
)");
  EXPECT_EQ(Lines(Tree(shape, true)), 2 + 126 + 378);
}

TEST(FabricTextTest, LongListsOfNamesAreCutAndBrokenAtTheEdge) {
  std::vector<testing::FreePerNode> free;
  for (int l = 0; l < 400; ++l) free.push_back({l % 2 == 0 ? 8 : 0});
  EXPECT_EQ(Tree(Leaves(free), false, 80), R"(default: 400 nodes, 3,200 GPUs, 1,600 free
  s0: 400 nodes, 3,200 GPUs, 1,600 free
    l[0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,50,
        52] and 173 more: each 1 node, 8 GPUs, 8 free
      8/8 free: n[000,002,004,006,008,010,012,014,016,018,020,022,024,026,028,
                030,032,034,036,038,040,042,044,046,048,050,052,054,056,058,060,
                062,064,066,068,070,072,074,076,078,080,082,084,086,088,090,092,
                094,096,098,100,102,104,106,108,110,112,114,116,118,120,122,124]
                and 137 more
    l[1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,45,47,49,51,
        53] and 173 more: each 1 node, 8 GPUs, 0 free
      0/8 free: n[001,003,005,007,009,011,013,015,017,019,021,023,025,027,029,
                031,033,035,037,039,041,043,045,047,049,051,053,055,057,059,061,
                063,065,067,069,071,073,075,077,079,081,083,085,087,089,091,093,
                095,097,099,101,103,105,107,109,111,113,115,117,119,121,123,125]
                and 137 more
(folded to be short; --nodes lists all)
)");
}

TEST(FabricTextTest, AFlatFabricHasNodesOnly) {
  FabricShape shape;
  shape.levels = {};
  shape.nodes = {{.name = "a1"}, {.name = "a2"}, {.name = "b", .used = 8}};
  EXPECT_EQ(Tree(shape), R"(default: 3 nodes, 24 GPUs, 16 free
  8/8 free: a[1,2]
  0/8 free: b
)");
}

TEST(FabricTextTest, DomainsNamedByTheirPathLeaveOutTheirParent) {
  FabricShape shape = Leaves({{8}, {0}});
  for (testing::TestNode& node : shape.nodes) node.domains[1] = "r" + node.name;
  Scene scene = Used(shape);
  scene.inputs.fabrics[0].spec.levels[1].identity = fabric::Identity::kPath;
  const cluster::Cluster cluster = scene.Build();
  EXPECT_EQ(DomainTree(cluster.fabrics[0].claims, Plain(), {}),
            R"(default: 2 nodes, 16 GPUs, 8 free
  s0: 2 nodes, 16 GPUs, 8 free
    rn0: 1 node, 8 GPUs, 8 free
      8/8 free: n0
    rn1: 1 node, 8 GPUs, 0 free
      0/8 free: n1
)");
}

TEST(FabricTextTest, NamesFlatKindsAndNodesThatOfferLessThanTheyHave) {
  FabricShape shape = Leaves({{8, 8, 8}});
  for (testing::TestNode& node : shape.nodes) node.labels["nvidia.com/gpu.product"] = "H100";
  shape.nodes.push_back({.name = "l0", .labels = {{"nvidia.com/gpu.product", "L40S"}}});
  Scene scene(shape);
  for (const auto& [n, offers] : {std::pair{0, 0}, {1, 7}}) {
    fabric::NodeFacts& facts = scene.inputs.nodes.Edit(static_cast<std::size_t>(n)).facts;
    facts.allocatable[testing::kGpu] = offers;
    facts.capacity = {{testing::kGpu, 8}};
  }
  const std::string text = FabricText(scene.Build().fabrics[0], {}, {});
  EXPECT_EQ(text.substr(text.find("Kinds of nodes")),
            R"(Kinds of nodes without labels, each a flat pool (1):
  L40S, no spine (test/spine): l0
Unusable nodes (1):
  0 of 8 nvidia.com/gpu are allocatable: n0
Nodes that offer only some of their accelerators (1):
  7 of 8 nvidia.com/gpu are allocatable: n1
)");
}

TEST(FabricTextTest, WithoutCompleteNodesItSaysSo) {
  FabricShape shape;
  for (int n = 0; n < 3; ++n) shape.nodes.push_back({.name = "n" + std::to_string(n)});
  const cluster::Cluster cluster = Scene(shape).Build();
  const std::string text = FabricText(cluster.fabrics[0], {}, {});
  EXPECT_EQ(text.substr(text.find("\n\n") + 2), R"(default: no complete node

Incomplete nodes, never used (3):
  no spine (test/spine): n[0-2]
)");
}

TEST(FabricTextTest, ColourTellsFullFromFree) {
  const cluster::Cluster cluster = Used(Leaves({{8}, {0}})).Build();
  const std::string text = DomainTree(cluster.fabrics[0].claims, {.colour = true}, {});
  EXPECT_NE(text.find("    \x1b[32ml0: 1 node, 8 GPUs, 8 free\x1b[0m\n"), std::string::npos);
  EXPECT_NE(text.find("    \x1b[31ml1: 1 node, 8 GPUs, 0 free\x1b[0m\n"), std::string::npos);
}

TEST(FabricTextTest, ControlCharactersOfNamesAreNotPrinted) {
  FabricShape shape = FourNodes();
  shape.nodes[0].name = "n\x1b[2J";
  shape.nodes[0].domains[1] = "l\n0";
  EXPECT_EQ(Tree(shape).find_first_of("\x1b"), std::string::npos);
  EXPECT_NE(Tree(shape).find("l?0"), std::string::npos);
}

}  // namespace
}  // namespace weft::render
