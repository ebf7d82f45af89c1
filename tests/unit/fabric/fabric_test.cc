#include "operator/fabric/fabric.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "tests/support/fabric_builder.h"

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
std::string Show(const Fabric& fabric, Tier tier = kOutside, DomainIndex domain = 0) {
  if (tier == fabric.node_tier()) return fabric.node(domain).name;
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
  for (Tier tier = 0; tier <= fabric.node_tier(); ++tier) {
    const TierDomains& domains = fabric.domains(tier);
    ASSERT_EQ(domains.begin.front(), 0U);
    ASSERT_EQ(domains.begin.back(), fabric.node_count());
    ASSERT_EQ(domains.of_node.size(), fabric.node_count());
    for (DomainIndex d = 0; d < domains.size(); ++d) {
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
  for (NodeIndex n = 0; n < cluster.fabric->node_count(); ++n) {
    by_rank[cluster.fabric->name_rank(n)] = cluster.fabric->node(n).name;
  }
  EXPECT_EQ(by_rank, (std::vector<std::string>{"a", "b", "c", "d", "e", "k", "l", "m"}));
  for (NodeIndex n = 0; n < cluster.fabric->node_count(); ++n) {
    EXPECT_EQ(cluster.fabric->FindNode(cluster.fabric->node(n).name), n);
  }
}

}  // namespace
}  // namespace weft::fabric
