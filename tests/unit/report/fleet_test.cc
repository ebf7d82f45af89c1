#include "operator/report/fleet.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/scene.h"

namespace weft::report {
namespace {

using cluster::Cluster;
using testing::kGpu;
using testing::Scene;

using Slot = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // nodes, free, stranded

FleetFigures Measure(const Cluster& cluster, std::uint32_t most_domains = 256) {
  return MeasureFleet(cluster.fabrics.front(), most_domains);
}

const FleetFigures::Level& LevelOf(const FleetFigures& fleet, const std::string& name) {
  for (const auto& level : fleet.levels) {
    if (level.name == name) return level;
  }
  ADD_FAILURE() << "no level " << name;
  return fleet.levels.front();
}

std::vector<Slot> SlotsOf(const FleetFigures& fleet, const std::string& level) {
  std::vector<Slot> slots;
  for (const auto& one : LevelOf(fleet, level).slots) {
    slots.emplace_back(one.nodes, one.free, one.stranded);
  }
  return slots;
}

// Four nodes a leaf; pods of the scene hold the first nodes of each.
struct TwoLeaves {
  testing::Scene scene{testing::Leaves({{8, 8, 8, 8}, {8, 8, 8, 8}})};
};

TEST(FleetTest, AnEmptyFleetIsAllSlots) {
  const Cluster cluster = TwoLeaves().scene.Build();
  const FleetFigures fleet = Measure(cluster);
  EXPECT_EQ(SlotsOf(fleet, "leaf"), (std::vector<Slot>{{1, 8, 0}, {2, 4, 0}, {4, 2, 0}}));
  EXPECT_EQ(SlotsOf(fleet, "spine"),
            (std::vector<Slot>{{1, 8, 0}, {2, 4, 0}, {4, 2, 0}, {8, 1, 0}}));
  EXPECT_EQ(LevelOf(fleet, "leaf").largest_free_block, 4);
}

TEST(FleetTest, CountsFreeGpusThatNoSlotCanUseAsStranded) {
  TwoLeaves two;
  two.scene.Pod("a", "n0");
  two.scene.Pod("b", "n4").pod.requests = {{testing::kGpu, 3}};
  const FleetFigures fleet = Measure(two.scene.Build());
  EXPECT_EQ(fleet.nodes, (std::array<std::int64_t, kNodeUses>{6, 1, 1, 0, 0}));
  // 53 GPUs are free: 48 on wholly free nodes, 5 beside the pod that takes 3.
  EXPECT_EQ(SlotsOf(fleet, "leaf"), (std::vector<Slot>{{1, 6, 5}, {2, 2, 21}, {4, 0, 53}}));
  EXPECT_EQ(SlotsOf(fleet, "spine"),
            (std::vector<Slot>{{1, 6, 5}, {2, 3, 5}, {4, 1, 21}, {8, 0, 53}}));
  EXPECT_EQ(LevelOf(fleet, "leaf").largest_free_block, 3);
}

TEST(FleetTest, CordonedAndUnusableNodesAreUnavailable) {
  TwoLeaves two;
  two.scene.inputs.nodes.Edit(0).facts.unschedulable = true;
  two.scene.inputs.nodes.Edit(1).facts.conditions = {{"Ready", "False"}};
  const FleetFigures fleet = Measure(two.scene.Build());
  EXPECT_EQ(fleet.nodes, (std::array<std::int64_t, kNodeUses>{6, 0, 0, 1, 1}));
  const auto& gpus = fleet.accelerators.at({testing::kGpu, ""});
  EXPECT_EQ(std::tuple(gpus.used, gpus.free, gpus.unavailable), std::tuple(0, 48, 16));
  EXPECT_EQ(LevelOf(fleet, "leaf").largest_free_block, 4);
}

TEST(FleetTest, DomainsAreListedOfLevelsWithFewOnly) {
  TwoLeaves two;
  two.scene.Pod("a", "n5");
  const Cluster cluster = two.scene.Build();
  const FleetFigures fleet = Measure(cluster, 2);
  const auto& leaves = LevelOf(fleet, "leaf").each;
  ASSERT_EQ(leaves.size(), 2U);
  EXPECT_EQ(std::tuple(leaves[1].name, leaves[1].nodes, leaves[1].free_nodes),
            std::tuple("l1", 4, 3));
  EXPECT_TRUE(LevelOf(Measure(cluster, 1), "leaf").each.empty());
  EXPECT_EQ(LevelOf(Measure(cluster, 1), "spine").each.size(), 1U);
  EXPECT_TRUE(LevelOf(Measure(cluster, 256), "node").each.empty());
}

TEST(FleetTest, OfNodesThatDifferASlotTakesThoseWithMostAccelerators) {
  testing::FabricShape shape = testing::Leaves({{8, 8, 8}});
  shape.nodes[1].accelerators = 4;
  shape.nodes[1].used = 0;
  const FleetFigures fleet = Measure(testing::Scene(shape).Build());
  EXPECT_EQ(SlotsOf(fleet, "leaf"), (std::vector<Slot>{{1, 3, 0}, {2, 1, 4}}));
}

TEST(FleetTest, ASlotIsOfOneProductAndCapacityType) {
  testing::FabricShape shape = testing::Leaves({{8, 8, 8, 8}});
  const std::string product = "nvidia.com/gpu.product", capacity = "karpenter.sh/capacity-type";
  shape.nodes[0].labels = {{product, "A100"}};
  shape.nodes[1].labels = {{product, "H100"}, {capacity, "spot"}};
  shape.nodes[2].labels = shape.nodes[3].labels = {{product, "H100"}};
  const FleetFigures fleet = Measure(testing::Scene(shape).Build());
  EXPECT_EQ(fleet.accelerators.at({testing::kGpu, "A100"}).free, 8);
  EXPECT_EQ(fleet.accelerators.at({testing::kGpu, "H100"}).free, 24);
  std::vector<std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>> slots;
  for (const auto& one : LevelOf(fleet, "leaf").slots) {
    slots.emplace_back(one.product, one.nodes, one.free, one.stranded);
  }
  EXPECT_EQ(slots, (decltype(slots){{"A100", 1, 1, 0},
                                    {"A100", 2, 0, 8},
                                    {"A100", 4, 0, 8},
                                    {"H100", 1, 3, 0},
                                    {"H100", 2, 1, 8},
                                    {"H100", 4, 0, 24}}));
}

// A slice is no whole accelerator of the product, wherever its name stands.
TEST(FleetTest, PartsAreCountedByTheirOwnNames) {
  testing::FabricShape shape = testing::Leaves({{8, 8}});
  for (testing::TestNode& node : shape.nodes) node.labels["nvidia.com/gpu.product"] = "H100";
  shape.nodes[0].allocatable = {{"nvidia.com/mig-1g.10gb", 7}};
  shape.nodes[1].labels["nvidia.com/gpu.replicas"] = "2";
  Scene scene(shape);
  const Cluster cluster = scene.Build();
  std::map<std::string, std::int64_t> free;
  for (const auto& [of, count] : Measure(cluster).accelerators) {
    free[of.first + ": " + of.second] = count.free;
  }
  EXPECT_EQ(free,
            (std::map<std::string, std::int64_t>{{"nvidia.com/gpu: H100", 8},
                                                 {"nvidia.com/gpu: H100 time slice 1/2", 8},
                                                 {"nvidia.com/mig-1g.10gb: H100 MIG 1g.10gb", 7}}));
}

}  // namespace
}  // namespace weft::report
