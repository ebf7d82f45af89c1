#include "operator/import/import_links.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "operator/import/import_tree.h"

namespace weft::import {
namespace {

ImportedCluster TwoLevels() {
  return BuildTree({{"spine", "a"}, {"leaf", "b"}}, {{"n1", {"s1", "l1"}}}, {.gpus_per_node = 8});
}

bool Assumed(const ImportedCluster& cluster) {
  return std::find(cluster.notes.begin(), cluster.notes.end(), kNoLinksNote) != cluster.notes.end();
}

TEST(AddLinks, SetsAllLevelsAndThenSome) {
  ImportedCluster cluster = TwoLevels();
  EXPECT_TRUE(Assumed(cluster));
  const Status added = AddLinks(
      {{"InfiniBandNDR", "outside=RoCE400"}, {"spine=200", "outside=300"}, "NVLink4"}, cluster);
  ASSERT_TRUE(added) << added.error().message;
  const fabric::FabricSpec& fabric = cluster.fabric;
  EXPECT_EQ(fabric.levels[0].link, (fabric::LinkSpec{"InfiniBandNDR", {}, 200, {}}));
  EXPECT_EQ(fabric.levels[1].link, (fabric::LinkSpec{"InfiniBandNDR", {}, 100, {}}));
  EXPECT_EQ(fabric.outside, (fabric::LinkSpec{"RoCE400", {}, 300, {}}));
  EXPECT_EQ(fabric.node_link->type, "NVLink4");
  EXPECT_FALSE(Assumed(cluster));
}

TEST(AddLinks, OfOneLevelReplaceThoseOfAllInAnyOrder) {
  ImportedCluster cluster = TwoLevels();
  ASSERT_TRUE(AddLinks({{"leaf=RoCE400", "InfiniBandNDR"}, {}, ""}, cluster));
  EXPECT_EQ(cluster.fabric.levels[0].link->type, "InfiniBandNDR");
  EXPECT_EQ(cluster.fabric.levels[1].link->type, "RoCE400");
}

TEST(AddLinks, OfScaleUpDomainsAreSetByTheirNameAlone) {
  ImportedCluster cluster = TwoLevels();
  cluster.fabric.scale_up = fabric::ScaleUpSpec{"nvlink", "clique", {}, {}};
  ASSERT_TRUE(AddLinks({{"InfiniBandNDR"}, {}, ""}, cluster));
  EXPECT_FALSE(cluster.fabric.scale_up->link);
  ASSERT_TRUE(AddLinks({{"nvlink=NVLink5"}, {"nvlink=200"}, ""}, cluster));
  EXPECT_EQ(cluster.fabric.scale_up->link, (fabric::LinkSpec{"NVLink5", {}, 200, {}}));
}

TEST(AddLinks, ALevelWithoutALinkStaysAssumed) {
  ImportedCluster cluster = TwoLevels();
  ASSERT_TRUE(AddLinks({{"leaf=InfiniBandNDR"}, {}, ""}, cluster));
  EXPECT_FALSE(cluster.fabric.levels[0].link);
  EXPECT_TRUE(Assumed(cluster));
}

TEST(AddLinks, OfATorusAndOfAFlatNetworkAreLinksToo) {
  ImportedCluster torus = TwoLevels();
  torus.fabric.torus = fabric::TorusSpec{"torus", {{"x", 2}}, "leaf", {}};
  ASSERT_TRUE(AddLinks({{"spine=RoCE400", "leaf=RoCE400"}, {}, ""}, torus));
  EXPECT_TRUE(Assumed(torus));
  ASSERT_TRUE(AddLinks({{"torus=ICIv5p"}, {"torus=200"}, ""}, torus));
  EXPECT_EQ(torus.fabric.torus->link, (fabric::LinkSpec{"ICIv5p", {}, 200, {}}));
  EXPECT_FALSE(Assumed(torus));

  ImportedCluster flat = BuildTree({}, {}, {});
  ASSERT_TRUE(AddLinks({{}, {"outside=200"}, ""}, flat));
  EXPECT_TRUE(Assumed(flat));
  ASSERT_TRUE(AddLinks({{"RoCE400"}, {}, ""}, flat));
  EXPECT_FALSE(Assumed(flat));
}

TEST(AddLinks, RefusesWhatIsNotKnown) {
  struct Case {
    ImportLinks wanted;
    const char* want;  // how the message begins
  };
  const Case cases[] = {
      {{{"Ethernet"}, {}, ""}, "--link: \"Ethernet\" is not a known type of link; known: NVLink2,"},
      {{{"rack=RoCE400"}, {}, ""},
       "--link: \"rack\" is not a level of this fabric, which has outside, spine, leaf"},
      {{{}, {"200"}, ""}, "--oversubscription: \"200\" is not LEVEL=PERCENT"},
      {{{}, {"leaf=0"}, ""}, "--oversubscription: \"leaf=0\" is not LEVEL=PERCENT"},
      {{{}, {"row=100"}, ""}, "--oversubscription: \"row\" is not a level of this fabric"},
      {{{}, {}, "Rope"}, "--node-link: \"Rope\" is not a known type of link"},
  };
  for (const Case& c : cases) {
    ImportedCluster cluster = TwoLevels();
    const Status added = AddLinks(c.wanted, cluster);
    ASSERT_FALSE(added) << c.want;
    EXPECT_TRUE(added.error().message.starts_with(c.want)) << added.error().message;
  }
}

}  // namespace
}  // namespace weft::import
