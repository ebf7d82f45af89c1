#include "operator/simulate/variation.h"
#include "operator/cluster/build_cluster.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/scene.h"

namespace weft::simulate {
namespace {

std::string Names(const std::vector<std::string>& axes) {
  const auto sweep = ReadSweep(axes);
  if (!sweep) return sweep.error().message;
  std::string names;
  for (const Variation& one : *sweep) names += "[" + one.Name() + "]";
  return names;
}

TEST(ReadSweep, CombinesAxes) {
  EXPECT_EQ(Names({}), "[]");
  EXPECT_EQ(Names({"load=0.7,1.1", "taper=100,400"}),
            "[load 0.7, taper 1:1][load 0.7, taper 4:1][load 1.1, taper 1:1][load 1.1, taper 4:1]");
  EXPECT_EQ(Names({"nvlink=72", "failures=6.5"}),
            "[NVLink domains of 72 GPUs, 6.5 failures per 1,000 node-days]");
}

TEST(ReadSweep, NamesAMistake) {
  EXPECT_EQ(Names({"load"}), "--sweep: \"load\" is not an axis with values, such as load=0.7,0.9");
  EXPECT_EQ(Names({"speed=1"}), "--sweep: \"speed\" is not one of load, taper, nvlink, failures");
  EXPECT_EQ(Names({"load=0"}), "--sweep load: \"0\" is out of range");
  EXPECT_EQ(Names({"taper=100,"}), "--sweep taper: \"\" is out of range");
  EXPECT_EQ(Names({"nvlink=1.5"}), "--sweep nvlink: \"1.5\" is out of range");
}

Variation Tapered(int percent) {
  Variation one;
  one.taper_percent = percent;
  return one;
}

Variation ScaleUp(int gpus) {
  Variation one;
  one.scale_up_gpus = gpus;
  return one;
}

Variation MoreRacks(int racks) {
  Variation one;
  one.more_racks = racks;
  return one;
}

cluster::Cluster Varied(const Variation& variation) {
  const testing::Scene scene(testing::FourNodes());
  auto inputs = Vary(scene.inputs, "default", variation);
  EXPECT_TRUE(inputs);
  auto cluster = cluster::BuildCluster(*std::move(inputs));
  EXPECT_TRUE(cluster);
  return *std::move(cluster);
}

TEST(Vary, ATaperIsThatOfAllLinksAboveTheNarrowestLevel) {
  const cluster::Cluster plain = Varied({}), tapered = Varied(Tapered(400));
  const auto tiers = plain.fabrics[0].fabric->tiers().Items(),
             after = tapered.fabrics[0].fabric->tiers().Items();
  EXPECT_EQ(after[0].link.femtoseconds_per_byte, 4 * tiers[0].link.femtoseconds_per_byte);
  EXPECT_EQ(after[1].link.femtoseconds_per_byte, 4 * tiers[1].link.femtoseconds_per_byte);
  EXPECT_EQ(after[2].link.femtoseconds_per_byte, tiers[2].link.femtoseconds_per_byte);
}

TEST(Vary, ScaleUpDomainsHoldNodesOfOneLeaf) {
  const cluster::Cluster cluster = Varied(ScaleUp(16));
  const fabric::Fabric& fabric = *cluster.fabrics[0].fabric;
  ASSERT_TRUE(fabric.nested_scale_up());
  EXPECT_EQ(fabric.domains(*fabric.nested_scale_up()).size(), 2U);
  EXPECT_TRUE(fabric.inconsistencies().empty());
  const testing::Scene scene(testing::FourNodes());
  EXPECT_FALSE(Vary(scene.inputs, "default", ScaleUp(12)));
  EXPECT_FALSE(Vary(scene.inputs, "other", ScaleUp(16)));
}

TEST(Vary, OneMoreRackIsACopyOfAWholeOne) {
  const cluster::Cluster cluster = Varied(MoreRacks(1));
  const fabric::Fabric& fabric = *cluster.fabrics[0].fabric;
  EXPECT_EQ(fabric.node_count(), 6U);
  EXPECT_EQ(fabric.domains(*fabric.FindTier("leaf")).size(), 3U);
  EXPECT_EQ(fabric.domains(*fabric.FindTier("spine")).size(), 1U);
}

}  // namespace
}  // namespace weft::simulate
