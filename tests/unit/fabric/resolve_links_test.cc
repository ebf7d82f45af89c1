#include "operator/fabric/resolve_links.h"

#include <limits>

#include "gtest/gtest.h"

namespace weft::fabric {
namespace {

LinkSpec Typed(const char* type, std::int64_t oversubscription_percent = 100) {
  LinkSpec link;
  link.type = type;
  link.oversubscription_percent = oversubscription_percent;
  return link;
}

LinkSpec Rated(std::int64_t bandwidth, std::int64_t oversubscription_percent = 100) {
  LinkSpec link;
  link.bandwidth_per_gpu = bandwidth;
  link.oversubscription_percent = oversubscription_percent;
  return link;
}

FabricSpec TwoLevels(std::optional<LinkSpec> spine, std::optional<LinkSpec> leaf) {
  FabricSpec spec;
  spec.levels = {{"spine", "s", Identity::kValue, std::move(spine)},
                 {"leaf", "l", Identity::kValue, std::move(leaf)}};
  return spec;
}

std::string Show(const Link& link) {
  static constexpr const char* kSources[] = {"Declared", "KnownType", "Assumed"};
  return std::to_string(link.femtoseconds_per_byte)
      .append(" ")
      .append(kSources[static_cast<int>(link.source)]);
}

std::string Show(const Result<ResolvedLinks>& links) {
  if (!links) return std::string("error: ").append(links.error().message);
  std::string text = Show(links->outside);
  for (const Link& level : links->levels) text.append(", ").append(Show(level));
  return text.append(" | ").append(Show(links->node));
}

TEST(ResolveLinksTest, FemtosecondsPerByteAreRoundedHalfUp) {
  struct Case {
    const char* name;
    LinkSpec link;
    std::int64_t want;
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<Case> cases = {
      {"a known type", Typed("InfiniBandNDR"), 20'000},
      {"an oversubscribed type", Typed("InfiniBandNDR", 200), 40'000},
      {"over-provisioned uplinks", Typed("InfiniBandHDR", 80), 32'000},
      {"a bandwidth", Rated(50'000'000'000), 20'000},
      {"below a half rounds down", Rated(900'000'000'000), 1'111},
      {"a half rounds up", Rated(80'000'000'000'000), 13},
      {"above a half rounds up", Rated(300'000'000'000, 200), 6'667},
      {"never 0", Rated(kMost, 1), 1},
      {"the slowest", Rated(1'000), 1'000'000'000'000},
  };
  for (const Case& c : cases) {
    const Result<ResolvedLinks> links = ResolveLinks(TwoLevels(std::nullopt, c.link));
    ASSERT_TRUE(links) << c.name;
    EXPECT_EQ(links->levels[1].femtoseconds_per_byte, c.want) << c.name;
  }
}

TEST(ResolveLinksTest, SaysWhereABandwidthIsFrom) {
  LinkSpec both = Typed("InfiniBandNDR");
  both.bandwidth_per_gpu = 40'000'000'000;
  LinkSpec own = Rated(10'000'000'000);
  own.type = "MyFabric";
  EXPECT_EQ(Show(ResolveLinks(TwoLevels(own, both))),
            "100000 Declared, 100000 Declared, 25000 Declared | 2222 Assumed");
  FabricSpec spec = TwoLevels(Typed("InfiniBandNDR", 200), Typed("InfiniBandNDR"));
  spec.outside = Typed("RoCE100", 400);
  spec.node_link = Typed("NVLink4");
  EXPECT_EQ(Show(ResolveLinks(spec)),
            "320000 KnownType, 40000 KnownType, 20000 KnownType | 2222 KnownType");
  EXPECT_EQ(ResolveLinks(spec)->levels[0].type, "InfiniBandNDR");
}

TEST(ResolveLinksTest, AssumesWhatIsNotDeclared) {
  EXPECT_EQ(Show(ResolveLinks({})), "20000 Assumed | 2222 Assumed");
  EXPECT_EQ(Show(ResolveLinks(TwoLevels({}, {}))),
            "80000 Assumed, 40000 Assumed, 20000 Assumed | 2222 Assumed");
  EXPECT_EQ(Show(ResolveLinks(TwoLevels({}, Typed("InfiniBandHDR", 200)))),
            "320000 Assumed, 160000 Assumed, 80000 KnownType | 2222 Assumed");
  EXPECT_EQ(Show(ResolveLinks(TwoLevels(Typed("InfiniBandHDR"), {}))),
            "40000 KnownType, 40000 KnownType, 20000 Assumed | 2222 Assumed");
  EXPECT_EQ(Show(ResolveLinks(TwoLevels({}, Typed("", 300)))),
            "240000 Assumed, 120000 Assumed, 60000 Assumed | 2222 Assumed");
}

TEST(ResolveLinksTest, TheAssumedTaperEndsAtSixteenToOne) {
  FabricSpec spec;
  for (int l = 0; l < 8; ++l) spec.levels.push_back({"l", "k", Identity::kValue, {}});
  const Result<ResolvedLinks> links = ResolveLinks(spec);
  ASSERT_TRUE(links);
  EXPECT_EQ(links->levels.front().oversubscription_percent, 1'600);
  EXPECT_EQ(links->levels[3].oversubscription_percent, 1'600);
  EXPECT_EQ(links->levels[4].oversubscription_percent, 800);
}

TEST(ResolveLinksTest, WithoutAScaleUpNetworkTheNodeLinkIsTheToruss) {
  FabricSpec spec;
  spec.torus = TorusSpec{};
  EXPECT_EQ(Show(ResolveLinks(spec)->torus), "1667 Assumed");
  EXPECT_EQ(Show(ResolveLinks(spec)->node), "1667 Assumed");
  spec.torus->link = Typed("ICIv6e");
  EXPECT_EQ(Show(ResolveLinks(spec)->torus), "2500 KnownType");
  EXPECT_EQ(Show(ResolveLinks(spec)->node), "2500 KnownType");
  spec.scale_up = ScaleUpSpec{"nvlink", "v", Typed("NVLink5"), ScaleUpRequires::kNothing};
  EXPECT_EQ(Show(ResolveLinks(spec)->node), "1111 KnownType");
  spec.torus->link->oversubscription_percent = 0;
  EXPECT_EQ(ResolveLinks(spec).error().message,
            "spec.torus.link.oversubscriptionPercent: 0 is below 1");
}

TEST(ResolveLinksTest, TheNodeLinkIsTheScaleUpLinkUnlessGiven) {
  FabricSpec spec = TwoLevels({}, {});
  spec.scale_up = ScaleUpSpec{"nvlink", "v", {}, ScaleUpRequires::kNothing};
  EXPECT_EQ(Show(ResolveLinks(spec)->scale_up), "1111 Assumed");
  EXPECT_EQ(Show(ResolveLinks(spec)->node), "1111 Assumed");
  spec.scale_up->link = Typed("NVLink4");
  EXPECT_EQ(Show(ResolveLinks(spec)->node), "2222 KnownType");
  spec.node_link = Rated(1'000'000'000'000);
  EXPECT_EQ(Show(ResolveLinks(spec)->node), "1000 Declared");
  EXPECT_EQ(Show(ResolveLinks(spec)->scale_up), "2222 KnownType");
}

TEST(ResolveLinksTest, RefusesBadLinksByTheirPath) {
  struct Case {
    const char* name;
    FabricSpec spec;
    const char* want;
  };
  LinkSpec late = Typed("RoCE400");
  late.latency_nanoseconds = -1;
  FabricSpec outside, node, scale_up, one_rail;
  one_rail.outside = Rated(3999);
  one_rail.rails = RailsSpec{4, {}};
  outside.outside = Rated(0);
  node.node_link = Typed("NVLink9");
  scale_up.scale_up = ScaleUpSpec{"nvlink", "v", late, ScaleUpRequires::kNothing};
  const std::vector<Case> cases = {
      {"an unknown type", TwoLevels({}, Typed("Ethernet")),
       "spec.levels[1].link.type: \"Ethernet\" is not a known link type; give bandwidthPerGPU with "
       "it"},
      {"no oversubscription", TwoLevels(Typed("RoCE400", 0), {}),
       "spec.levels[0].link.oversubscriptionPercent: 0 is below 1"},
      {"no bandwidth", outside, "spec.outside.bandwidthPerGPU: 0 bytes per second is not above 0"},
      {"a negative bandwidth", TwoLevels(Rated(-5), {}),
       "spec.levels[0].link.bandwidthPerGPU: -5 bytes per second is not above 0"},
      {"an unknown node link", node,
       "spec.nodeLink.type: \"NVLink9\" is not a known link type; give bandwidthPerGPU with it"},
      {"a negative latency", scale_up, "spec.scaleUp.link.latencyNanoseconds: -1 is negative"},
      {"less than 1 kB/s", TwoLevels(Rated(1999, 200), {}),
       "spec.levels[0].link: 1999 bytes per second at 200 % oversubscription leave one GPU less "
       "than "
       "1 kB/s"},
      {"less than 1 kB/s on one of four rails", one_rail,
       "spec.outside: 3999 bytes per second at 100 % oversubscription leave one GPU less than 1 "
       "kB/s "
       "on a single rail"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Show(ResolveLinks(c.spec)), std::string("error: ").append(c.want)) << c.name;
  }
}

}  // namespace
}  // namespace weft::fabric
