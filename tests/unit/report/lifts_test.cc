#include "operator/report/lifts.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/models.h"
#include "tests/unit/decide/scene.h"

namespace weft::report {
namespace {

using fabric::NodeIndex;

// Racks with NVLink across them, of three nodes of four GPUs each.
decide::Scene RacksOfThree(std::uint32_t racks, std::uint32_t workers) {
  testing::FabricShape shape;
  shape.scale_up = true;
  for (std::uint32_t n = 0; n < 3 * racks; ++n) {
    testing::TestNode node;
    node.name = testing::Numbered("n", n, 3 * racks);
    node.domains = {"s0", "l0"};
    node.scale_up = "v" + std::to_string(n / 3);
    node.accelerators = 4;
    node.labels["nvidia.com/gpu.product"] = "NVIDIA-GB200";
    shape.nodes.push_back(std::move(node));
  }
  decide::Scene scene(shape);
  scene.Job("llama", workers, 4).model = traffic::Model{traffic::testing::Llama70B(), {}};
  return scene;
}

// Where a layout of that tensor degree lies.
std::vector<NodeIndex> NodesFor(const decide::Scene& scene, std::int64_t tensor) {
  const decide::Cluster cluster = scene.Build();
  const auto workloads = decide::PendingWorkloads(cluster, decide::Order::kFile);
  const decide::Workload& workload = workloads->front();
  const Grounds grounds = GroundsOf(cluster, workload);
  outlook::Layout layout;
  layout.model = *(*workload.model)->transformer;
  layout.model.global_batch_size = 510;  // of two and of three ranks
  layout.parallelism.tensor = tensor;
  layout.ranks = std::int64_t{workload.workers} * 4;
  const auto on = OnNodes(workload, grounds.grounds.at(0), layout);
  if (!on) return {};
  return {on->nodes.begin(), on->nodes.end()};
}

TEST(LiftsTest, AGroupOfTwoNodesLiesInOneRackOfThree) {
  EXPECT_EQ(NodesFor(RacksOfThree(3, 4), 8), (std::vector<NodeIndex>{0, 1, 3, 4}));
}

TEST(LiftsTest, WhereAllNodesOfTheRacksAreNeededAllAreTaken) {
  EXPECT_EQ(NodesFor(RacksOfThree(2, 6), 8), (std::vector<NodeIndex>{0, 1, 2, 3, 4, 5}));
}

TEST(LiftsTest, WithTooFewNodesThereIsNone) {
  EXPECT_TRUE(NodesFor(RacksOfThree(1, 4), 8).empty());
}

}  // namespace
}  // namespace weft::report
