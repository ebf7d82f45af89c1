#include "operator/fabric/fabric.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/raw_of.h"

namespace weft::fabric {
namespace {

using testing::Cluster;
using testing::FabricShape;
using testing::Leaves;
using testing::MakeCluster;
using testing::MakeNodes;
using testing::MakeSpec;
using testing::Spines;
using testing::TestNode;

// The whole tree as text, "outside(s0(l0(v0(n0 n1))))".
std::string Show(const Fabric& fabric, Tier tier = kOutside, DomainIndex domain = DomainIndex{0}) {
  if (tier == fabric.node_tier()) return fabric.node(AsNode(domain)).name;
  const TierDomains& domains = fabric.domains(tier);
  std::string text = domains.names[domain] + "(";
  for (DomainIndex c = domains.child_begin[domain]; c < domains.child_begin[domain + 1]; ++c) {
    if (c != domains.child_begin[domain]) text += ' ';
    text += Show(fabric, tier + 1, c);
  }
  return text + ")";
}

// The tree, or "error: ...".
std::string Build(const FabricShape& shape, Fabric::Options options = {}) {
  const Result<Fabric> fabric = Fabric::Build(MakeSpec(shape), MakeNodes(shape), options);
  return fabric ? Show(*fabric) : std::string("error: ").append(fabric.error().message);
}

// Tiers are consistent: runs, children and nodes say the same.
void ExpectDense(const Fabric& fabric) {
  for (Tier tier{0}; tier <= fabric.node_tier(); ++tier) {
    const TierDomains& domains = fabric.domains(tier);
    ASSERT_EQ(domains.begin.front(), NodeIndex{0});
    ASSERT_EQ(domains.begin.back(), domains.of_node.EndIndex());
    ASSERT_EQ(domains.of_node.size(), fabric.node_count());
    for (DomainIndex d{0}; d < domains.EndIndex(); ++d) {
      for (NodeIndex n = domains.begin[d]; n < domains.begin[d + 1]; ++n) {
        ASSERT_EQ(domains.of_node[n], d);
      }
      if (tier == fabric.node_tier()) continue;
      const TierDomains& children = fabric.domains(tier + 1);
      ASSERT_EQ(children.begin[domains.child_begin[d]], domains.begin[d]);
      ASSERT_EQ(children.begin[domains.child_begin[d + 1]], domains.begin[d + 1]);
    }
  }
}

TEST(FabricTest, TiersRunFromOutsideToNode) {
  const Cluster cluster = MakeCluster(Spines({{{{8, 0}, {8, 8}}}, {{{4}}}}));
  const Fabric& fabric = *cluster.fabric;
  std::vector<std::string> names;
  std::vector<std::int64_t> weights;
  for (const TierInfo& tier : fabric.tiers()) {
    names.push_back(tier.name);
    weights.push_back(tier.link.femtoseconds_per_byte);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"outside", "spine", "leaf", "nvlink", "node"}));
  EXPECT_EQ(weights, (std::vector<std::int64_t>{80'000, 40'000, 20'000, 1'111, 1'111}));
  EXPECT_EQ(Show(fabric), "outside(s0(l0(v0(n0 n1) v1(n2 n3))) s1(l1(v2(n4))))");
  EXPECT_EQ(fabric.nested_scale_up(), Tier{3});
  EXPECT_EQ(fabric.FindTier("outside"), Tier{0});
  EXPECT_EQ(fabric.FindTier("leaf"), Tier{2});
  EXPECT_EQ(fabric.FindTier("nvlink"), Tier{3});
  EXPECT_EQ(fabric.FindTier("node"), Tier{4});
  EXPECT_EQ(fabric.FindTier("rack"), std::nullopt);
  EXPECT_EQ(fabric.FindNode("n3"), NodeIndex{3});
  EXPECT_EQ(fabric.FindNode("n9"), std::nullopt);
  ExpectDense(fabric);
}

FabricShape Irregular() {
  FabricShape shape;
  shape.scale_up = true;
  shape.nodes = {
      {.name = "m", .domains = {"s-b", "l-2"}, .scale_up = "v-9"},
      {.name = "a", .domains = {"s-z", "l-9"}},
      {.name = "k", .domains = {"s-b", "l-7"}, .scale_up = "v-1"},
      {.name = "c", .domains = {"s-z", "l-1"}, .scale_up = "v-2"},
      {.name = "b", .domains = {"s-b", "l-2"}, .scale_up = "v-0"},
      {.name = "l", .domains = {"s-b", "l-2"}, .scale_up = "v-0"},
      {.name = "d", .domains = {"s-z", "l-1"}, .scale_up = "v-2"},
      {.name = "e", .domains = {"s-z", "l-9"}},
  };
  return shape;
}

TEST(FabricTest, DomainsAreOrderedByTheirLeastNode) {
  EXPECT_EQ(Build(Irregular()),
            "outside(s-z(l-9(a(a) e(e)) l-1(v-2(c d))) s-b(l-2(v-0(b l) v-9(m)) l-7(v-1(k))))");
}

TEST(FabricTest, TheOrderOfTheInputHasNoMeaning) {
  FabricShape shape = Irregular();
  const std::string want = Build(shape);
  const auto by_name = [](const TestNode& a, const TestNode& b) { return a.name < b.name; };
  std::sort(shape.nodes.begin(), shape.nodes.end(), by_name);
  int permutations = 0;
  do {
    ASSERT_EQ(Build(shape), want);
  } while (++permutations < 2'000 &&
           std::next_permutation(shape.nodes.begin(), shape.nodes.end(), by_name));
}

TEST(FabricTest, NameRanksFollowNamesAcrossDomains) {
  const Cluster cluster = MakeCluster(Irregular());
  std::vector<std::string> by_rank(cluster.fabric->node_count());
  for (const NodeIndex n : Range<NodeIndex>(cluster.fabric->node_count())) {
    by_rank[cluster.fabric->name_rank(n)] = cluster.fabric->node(n).name;
  }
  EXPECT_EQ(by_rank, (std::vector<std::string>{"a", "b", "c", "d", "e", "k", "l", "m"}));
  for (const NodeIndex n : Range<NodeIndex>(cluster.fabric->node_count())) {
    EXPECT_EQ(cluster.fabric->FindNode(cluster.fabric->node(n).name), n);
  }
}

// A fabric's complaints, one per line.
std::string ShowIncomplete(const Fabric& fabric) {
  std::string text;
  for (const IncompleteNode& node : fabric.incomplete()) {
    text.append(node.node).append(": ").append(node.missing).append(" ").append(node.label_key);
    text.append(" [").append(node.why).append("]\n");
  }
  return text;
}

TEST(FabricTest, NodesWithoutEveryLevelAreListedAndLeftOut) {
  FabricShape shape;
  shape.nodes = {
      {.name = "good", .domains = {"s", "l"}},
      {.name = "no-leaf", .domains = {"s", ""}},
      {.name = "no-label", .domains = {}},
      {.name = "placeholder", .domains = {"s", "no-imds-data"}},
      {.name = "empty", .domains = {"s", ""}, .labels = {{"test/leaf", ""}}},
  };
  const Cluster cluster = MakeCluster(shape);
  EXPECT_EQ(Show(*cluster.fabric), "outside(s(l(good)))");
  EXPECT_EQ(ShowIncomplete(*cluster.fabric),
            "empty: leaf test/leaf [placeholder \"\"]\n"
            "no-label: spine test/spine []\n"
            "no-leaf: leaf test/leaf []\n"
            "placeholder: leaf test/leaf [placeholder \"no-imds-data\"]\n");
  EXPECT_EQ(cluster.fabric->FindNode("no-leaf"), std::nullopt);
}

TEST(FabricTest, AFabricWithoutACompleteNodeIsEmpty) {
  FabricShape shape;
  shape.scale_up = true;
  shape.nodes = {{.name = "a", .domains = {"s"}}};
  const Cluster cluster = MakeCluster(shape);
  EXPECT_EQ(cluster.fabric->node_count(), 0U);
  EXPECT_EQ(cluster.fabric->tiers().size(), 5U);
  EXPECT_EQ(cluster.fabric->domains(Tier{1}).size(), 0U);
  EXPECT_EQ(Show(*cluster.fabric), "outside()");
  EXPECT_EQ(ShowIncomplete(*cluster.fabric), "a: leaf test/leaf []\n");
  shape.nodes.clear();
  EXPECT_EQ(Build(shape), "outside()");
}

TEST(FabricTest, WithoutLevelsTheScaleUpNestsUnderOutside) {
  FabricShape shape;
  shape.levels = {};
  shape.nodes = {{.name = "a", .scale_up = "v2"},
                 {.name = "b", .scale_up = "v1"},
                 {.name = "c", .scale_up = "v2"}};
  EXPECT_EQ(Build(shape), "outside(a b c)");
  shape.scale_up = true;
  EXPECT_EQ(Build(shape), "outside(v2(a c) v1(b))");
}

TEST(FabricTest, AHostNameLevelFallsBackToTheNodeName) {
  FabricSpec spec;
  spec.levels = {{"leaf", "leaf", Identity::kValue, {}},
                 {"host", "kubernetes.io/hostname", Identity::kValue, {}}};
  spec.node_selector = LabelSelector{};
  std::vector<NodeFacts> nodes(2);
  nodes[0].name = "b";
  nodes[0].labels = {{"leaf", "l"}, {"kubernetes.io/hostname", "b.example.com"}};
  nodes[1].name = "a";
  nodes[1].labels = {{"leaf", "l"}};
  const Result<Fabric> fabric = Fabric::Build(spec, nodes, {});
  ASSERT_TRUE(fabric);
  EXPECT_EQ(Show(*fabric), "outside(l(a(a) b.example.com(b)))");
}

TEST(FabricTest, ANodeWithoutScaleUpLabelIsItsOwnDomain) {
  FabricShape shape;
  shape.scale_up = true;
  shape.nodes = {{.name = "a", .domains = {"s", "l"}},
                 {.name = "b", .domains = {"s", "l"}, .scale_up = "no-imds-data"},
                 {.name = "c", .domains = {"s", "l"}, .scale_up = "a"},
                 {.name = "d", .domains = {"s", "l"}, .scale_up = "a"}};
  EXPECT_EQ(Build(shape), "outside(s(l(a(a) b(b) a(c d))))");
}

TEST(FabricTest, AScaleUpDomainAcrossLevelsIsNoTier) {
  FabricShape shape;
  shape.scale_up = true;
  shape.nodes = {{.name = "a", .domains = {"s", "l1"}, .scale_up = "v"},
                 {.name = "b", .domains = {"s", "l2"}, .scale_up = "w"},
                 {.name = "c", .domains = {"s", "l2"}, .scale_up = "v"},
                 {.name = "d", .domains = {"s", "l2"}}};
  const Cluster cluster = MakeCluster(shape);
  EXPECT_EQ(Show(*cluster.fabric), "outside(s(l1(a) l2(b c d)))");
  EXPECT_EQ(cluster.fabric->nested_scale_up(), std::nullopt);
  EXPECT_EQ(cluster.fabric->FindTier("nvlink"), std::nullopt);
  const Plane* crossing = cluster.fabric->crossing_scale_up();
  ASSERT_NE(crossing, nullptr);
  EXPECT_EQ(testing::RawOf(crossing->of_node), (std::vector<std::uint32_t>{0, 1, 0, 2}));
  EXPECT_EQ(crossing->names.Items(), (std::vector<std::string>{"v", "w", "d"}));
  EXPECT_EQ(cluster.fabric->scale_up_link().femtoseconds_per_byte, 1'111);
}

TEST(FabricTest, PlanesDivideTheNodesWithoutRegardToLevels) {
  FabricShape shape;
  shape.planes = {{"eth", 40'000}, {"blue", 10'000}};
  shape.nodes = {
      {.name = "a", .domains = {"s", "l1"}, .labels = {{"test/eth", "e"}}},
      {.name = "b", .domains = {"s", "l2"}, .labels = {{"test/eth", "e"}, {"test/blue", "b"}}},
      {.name = "c", .domains = {"s", "l2"}, .labels = {{"test/blue", "b"}}}};
  const Cluster cluster = MakeCluster(shape);
  const Fabric& fabric = *cluster.fabric;
  ASSERT_EQ(fabric.planes().size(), 2U);
  EXPECT_EQ(fabric.planes()[0].name, "eth");
  EXPECT_EQ(testing::RawOf(fabric.planes()[0].of_node), (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(testing::RawOf(fabric.planes()[1].of_node), (std::vector<std::uint32_t>{0, 1, 1}));
  EXPECT_EQ(fabric.planes()[1].link.femtoseconds_per_byte, 10'000);
  EXPECT_FALSE(fabric.planes()[0].scale_up);
  EXPECT_EQ(fabric.crossing_scale_up(), nullptr);
  EXPECT_NE(fabric.plane_class(NodeIndex{0}), fabric.plane_class(NodeIndex{1}));
  EXPECT_NE(fabric.plane_class(NodeIndex{1}), fabric.plane_class(NodeIndex{2}));
}

TEST(FabricTest, ANodeLeftOutMakesNoScaleUpDomainCross) {
  FabricShape shape;
  shape.scale_up = true;
  shape.nodes = {{.name = "a", .domains = {"s", "l1"}, .scale_up = "v"},
                 {.name = "b", .domains = {"s", ""}, .scale_up = "v"}};
  EXPECT_EQ(Build(shape), "outside(s(l1(v(a))))");
}

FabricShape OneLeafUnderTwoSpines() {
  FabricShape shape;
  shape.nodes = {{.name = "a", .domains = {"s1", "l"}},
                 {.name = "b", .domains = {"s2", "l"}},
                 {.name = "c", .domains = {"s2", "l"}},
                 {.name = "d", .domains = {"s1", "k"}},
                 {.name = "e", .domains = {"s3", "l"}}};
  return shape;
}

TEST(FabricTest, AnInconsistentTreeIsRefusedWithBothWitnesses) {
  EXPECT_EQ(Build(OneLeafUnderTwoSpines()),
            "error: level leaf: \"l\" is under \"s2\" (node b) and under \"s1\" (node a); and 1 "
            "more");
}

TEST(FabricTest, TheSmallerSidesOfAnInconsistencyAreSetAside) {
  const FabricShape shape = OneLeafUnderTwoSpines();
  const Result<Fabric> fabric =
      Fabric::Build(MakeSpec(shape), MakeNodes(shape), {.refuse_inconsistent = false});
  ASSERT_TRUE(fabric);
  EXPECT_EQ(Show(*fabric), "outside(s2(l(b c)) s1(k(d)))");
  EXPECT_EQ(ShowIncomplete(*fabric),
            "a: leaf test/leaf [one value under two parents: \"l\" is under \"s2\" and under "
            "\"s1\"]\n"
            "e: leaf test/leaf [one value under two parents: \"l\" is under \"s2\" and under "
            "\"s3\"]\n");
  ASSERT_EQ(fabric->inconsistencies().size(), 2U);
  const Inconsistency& first = fabric->inconsistencies()[0];
  EXPECT_EQ((std::vector<std::string>{first.level, first.value, first.parent_a, first.node_a,
                                      first.parent_b, first.node_b}),
            (std::vector<std::string>{"leaf", "l", "s2", "b", "s1", "a"}));
  ExpectDense(*fabric);
}

TEST(FabricTest, OfEqualSidesTheLeastParentStays) {
  FabricShape shape;
  shape.nodes = {{.name = "a", .domains = {"s2", "l"}}, {.name = "b", .domains = {"s1", "l"}}};
  const Fabric::Options options = {.refuse_inconsistent = false};
  EXPECT_EQ(Build(shape, options), "outside(s1(l(b)))");
}

TEST(FabricTest, ByPathTheSameValueElsewhereIsAnotherDomain) {
  const FabricShape shape = OneLeafUnderTwoSpines();
  FabricSpec spec = MakeSpec(shape);
  spec.levels[1].identity = Identity::kPath;
  const Result<Fabric> fabric = Fabric::Build(spec, MakeNodes(shape), {});
  ASSERT_TRUE(fabric);
  EXPECT_EQ(Show(*fabric), "outside(s1(s1/l(a) s1/k(d)) s2(s2/l(b c)) s3(s3/l(e)))");
}

FabricShape TwoToruses() {
  FabricShape shape;
  shape.levels = {{"pod", 40'000}};
  shape.torus_level = "pod";
  shape.torus = {{"", 4, true}, {"", 3, false}};
  return shape;
}

TEST(FabricTest, NodesStandInTheTorusOfTheirDomain) {
  FabricShape shape = TwoToruses();
  shape.nodes = {{.name = "a", .domains = {"p1"}, .torus = {0, 0}},
                 {.name = "b", .domains = {"p2"}, .torus = {0, 0}},
                 {.name = "c", .domains = {"p1"}, .torus = {3, 2}}};
  const Cluster cluster = MakeCluster(shape);
  const Torus& torus = *cluster.fabric->torus();
  const NodeIndex a = cluster.node("a"), b = cluster.node("b"), c = cluster.node("c");
  EXPECT_EQ(torus.count(), 2U);
  EXPECT_EQ(cluster.fabric->torus_tier(), Tier{1});
  EXPECT_EQ(cluster.fabric->torus_link().femtoseconds_per_byte, 1'667);
  EXPECT_TRUE(torus.SameTorus(a, c));
  EXPECT_FALSE(torus.SameTorus(a, b));
  EXPECT_EQ(torus.Hops(a, c), 3U);  // one back around the first dimension, two along the second
  EXPECT_EQ(torus.At(torus.torus_of(c), {3, 2, 0}), c);
  EXPECT_EQ(torus.At(torus.torus_of(b), {3, 2, 0}), Torus::kNoNode);
}

TEST(FabricTest, ADomainMayHaveATorusOfAnotherShape) {
  FabricShape shape = TwoToruses();
  shape.torus_shapes = {{{"p2", "p9"}, {8, 1}, {true, true}}};
  shape.nodes = {{.name = "a", .domains = {"p1"}, .torus = {0, 0}},
                 {.name = "b", .domains = {"p2"}, .torus = {0}},  // a ring needs one label
                 {.name = "c", .domains = {"p1"}, .torus = {3, 2}},
                 {.name = "d", .domains = {"p1"}, .torus = {7, 0}},
                 {.name = "e", .domains = {"p2"}, .torus = {6, 0}},
                 {.name = "f", .domains = {"p2"}, .torus = {6, 1}},
                 {.name = "g", .domains = {"p1"}, .torus = {2}}};
  const Cluster cluster = MakeCluster(shape);
  EXPECT_EQ(Show(*cluster.fabric), "outside(p1(a c) p2(b e))");
  EXPECT_EQ(ShowIncomplete(*cluster.fabric),
            "d: torus test/torus-0 [test/torus-0 \"7\" is not a number from 0 to 3]\n"
            "f: torus test/torus-1 [test/torus-1 \"1\" is not a number from 0 to 0]\n"
            "g: torus test/torus-1 []\n");
  const Torus& torus = *cluster.fabric->torus();
  EXPECT_EQ(torus.Hops(cluster.node("a"), cluster.node("c")), 3U);
  EXPECT_EQ(torus.Hops(cluster.node("b"), cluster.node("e")), 2U);
  EXPECT_EQ(cluster.fabric->absent_toruses(), std::vector<std::string>{"p9"});
}

TEST(FabricTest, ANodeWithoutAPlaceInTheTorusIsIncomplete) {
  FabricShape shape = TwoToruses();
  shape.nodes = {{.name = "a", .domains = {"p1"}, .torus = {0, 0}},
                 {.name = "b", .domains = {"p1"}},
                 {.name = "c", .domains = {"p1"}, .torus = {1, 3}},
                 {.name = "d", .domains = {"p1"}, .torus = {1, -1}},
                 {.name = "e", .domains = {"p1"}, .torus = {1}}};
  shape.nodes.push_back(
      {.name = "f", .domains = {"p1"}, .labels = {{"test/torus-0", "2x"}, {"test/torus-1", "0"}}});
  const Cluster cluster = MakeCluster(shape);
  EXPECT_EQ(Show(*cluster.fabric), "outside(p1(a))");
  EXPECT_EQ(ShowIncomplete(*cluster.fabric),
            "b: torus test/torus-0 []\n"
            "c: torus test/torus-1 [test/torus-1 \"3\" is not a number from 0 to 2]\n"
            "d: torus test/torus-1 [test/torus-1 \"-1\" is not a number from 0 to 2]\n"
            "e: torus test/torus-1 []\n"
            "f: torus test/torus-0 [test/torus-0 \"2x\" is not a number from 0 to 3]\n");
}

TEST(FabricTest, TwoNodesAtOnePlaceAreRefusedWithBothWitnesses) {
  FabricShape shape = TwoToruses();
  shape.nodes = {{.name = "a", .domains = {"p1"}, .torus = {1, 2}},
                 {.name = "b", .domains = {"p1"}, .torus = {1, 2}},
                 {.name = "c", .domains = {"p2"}, .torus = {1, 2}}};
  EXPECT_EQ(Build(shape), "error: torus: nodes a and b are both at place (1, 2) of p1");
  const Result<Fabric> fabric =
      Fabric::Build(MakeSpec(shape), MakeNodes(shape), {.refuse_inconsistent = false});
  ASSERT_TRUE(fabric);
  EXPECT_EQ(Show(*fabric), "outside(p1(a) p2(c))");
  EXPECT_EQ(ShowIncomplete(*fabric),
            "b: torus test/torus-0 [place (1, 2) of p1 is already that of node a]\n");
}

TEST(FabricTest, TorusesWithTooManyPlacesTogetherAreRefused) {
  FabricShape shape = TwoToruses();
  shape.torus = {{"", 1024, true}, {"", 1024, true}};
  for (int p = 0; p < 17; ++p) {
    TestNode node;
    node.name = "n" + std::to_string(p);
    node.domains = {"p" + std::to_string(p)};
    node.torus = {0, 0};
    shape.nodes.push_back(std::move(node));
  }
  EXPECT_EQ(
      Build(shape),
      "error: spec.torus: 17 domains of the level have 17825792 places together, which is more "
      "than 16777216");
}

TEST(FabricTest, RailsMakeTheLeafDomains) {
  FabricShape shape;
  const auto rails = [](const char* first, const char* second, const char* third) {
    return std::map<std::string, std::string>{{"r0", first}, {"r1", second}, {"r2", third}};
  };
  shape.nodes = {{.name = "a", .domains = {"s"}, .labels = rails("a0", "a1", "a2")},
                 {.name = "b", .domains = {"s"}, .labels = rails("b0", "b1", "b2")},
                 {.name = "c", .domains = {"s"}, .labels = {{"r0", "a0"}, {"r2", "a2"}}},
                 {.name = "d", .domains = {"s"}, .labels = rails("", "", "no-imds-data")},
                 {.name = "e", .domains = {"s"}}};
  shape.rails = RailsSpec{3, {"r0", "r1", "r2"}};
  FabricSpec spec = MakeSpec(shape);
  spec.levels[1].label_key = "";
  for (const char* key : {"", "test/leaf"}) {  // left out, or on no node
    spec.levels[1].label_key = key;
    const Result<Fabric> fabric = Fabric::Build(spec, MakeNodes(shape), {});
    ASSERT_TRUE(fabric);
    EXPECT_EQ(Show(*fabric), "outside(s(a0+2(a c) b0+2(b)))");
    EXPECT_EQ(ShowIncomplete(*fabric),
              "d: leaf r0 [no rail at all]\ne: leaf r0 [no rail at all]\n");
    EXPECT_TRUE(fabric->any_degraded());
    EXPECT_EQ(fabric->rails_full(), 3);
    EXPECT_EQ(fabric->rails_of(NodeIndex{0}), 3);
    EXPECT_EQ(fabric->rails_of(NodeIndex{1}), 2);
  }
}

TEST(FabricTest, ALeafLabelBeatsTheRails) {
  FabricShape shape;
  shape.nodes = {{.name = "a", .domains = {"s", "l1"}, .labels = {{"r0", "x"}, {"r1", "y"}}},
                 {.name = "b", .domains = {"s", "l2"}, .labels = {{"r0", "x"}}}};
  shape.rails = RailsSpec{2, {"r0", "r1"}};
  const Cluster cluster = MakeCluster(shape);
  EXPECT_EQ(Show(*cluster.fabric), "outside(s(l1(a) l2(b)))");
  EXPECT_EQ(cluster.fabric->rails_of(NodeIndex{1}), 1);
  shape.rails = RailsSpec{2, {}};
  const Cluster counted = MakeCluster(shape);
  EXPECT_EQ(counted.fabric->rails_of(NodeIndex{1}), 2);
  EXPECT_FALSE(counted.fabric->any_degraded());
}

TEST(FabricTest, NodesAreSelectedByLabelOrByAccelerator) {
  FabricShape shape;
  shape.nodes = {{.name = "cpu", .domains = {"s", "l"}, .accelerators = 0},
                 {.name = "gpu", .domains = {"s", "l"}},
                 {.name = "pool", .domains = {"s", "l"}, .labels = {{"pool", "x"}}}};
  FabricSpec spec = MakeSpec(shape);
  const auto build = [&] { return Show(*Fabric::Build(spec, MakeNodes(shape), {})); };
  EXPECT_EQ(build(), "outside(s(l(cpu gpu pool)))");
  spec.node_selector->match_labels = {{"pool", "x"}};
  EXPECT_EQ(build(), "outside(s(l(pool)))");
  spec.node_selector.reset();
  EXPECT_EQ(build(), "outside(s(l(gpu pool)))");
}

TEST(FabricTest, NodeNamesAreUnique) {
  FabricShape shape = Leaves({{8, 8}});
  shape.nodes[1].name = shape.nodes[0].name;
  EXPECT_EQ(Build(shape), "error: node n0 is given twice");
  shape.nodes[1].name = "";
  EXPECT_EQ(Build(shape), "error: a node has no name");
}

TEST(FabricTest, AComputeDomainIsNeededOnlyWhereTheSpecSaysSo) {
  FabricShape shape = Spines({{{{8}}}});
  EXPECT_FALSE(MakeCluster(shape).fabric->ScaleUpNeedsClaim());
  shape.scale_up_requires = ScaleUpRequires::kComputeDomain;
  EXPECT_TRUE(MakeCluster(shape).fabric->ScaleUpNeedsClaim());
  shape.scale_up = false;
  EXPECT_FALSE(MakeCluster(shape).fabric->ScaleUpNeedsClaim());
}

}  // namespace
}  // namespace weft::fabric
