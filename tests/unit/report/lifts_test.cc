#include "operator/report/lifts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/models.h"
#include "tests/support/nodes_of.h"
#include "tests/support/scene.h"

namespace weft::report {
namespace {

using fabric::NodeIndex;

// Racks with NVLink across them, of three nodes of four GPUs each.
testing::Scene RacksOfThree(std::uint32_t racks, std::uint32_t workers) {
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
  testing::Scene scene(shape);
  scene.Job("llama", workers, 4).model = traffic::Model{traffic::testing::Llama70B(), {}};
  return scene;
}

// Where a layout of that tensor degree lies.
std::vector<NodeIndex> NodesFor(const testing::Scene& scene, std::int64_t tensor) {
  const cluster::Cluster cluster = scene.Build();
  const auto workloads = cluster::PendingWorkloads(cluster, cluster::Order::kFile);
  const cluster::WorkloadView& workload = workloads->front();
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

// What the ranking keeps of candidates by their seconds and bytes, as "seconds/bytes".
std::vector<std::string> Ranked(std::size_t most,
                                const std::vector<std::pair<double, double>>& given) {
  Ranking ranking(most);
  std::int64_t tensor = 0;
  for (const auto& [seconds, bytes] : given) {
    CandidateLayout one{{}, {}, {}, seconds, bytes};
    one.layout.parallelism.tensor = ++tensor;
    if (ranking.Wants(seconds, bytes)) ranking.Add(one);
  }
  std::vector<std::string> kept;
  for (const CandidateLayout& one : ranking.Take()) {
    kept.push_back(std::to_string(std::lround(one.seconds)) + "/" +
                   std::to_string(std::lround(one.bytes)));
  }
  return kept;
}

TEST(RankingTest, OfEquallyFastLayoutsTheOneWithMostMemoryLeftIsFirst) {
  using Kept = std::vector<std::string>;
  EXPECT_EQ(Ranked(3, {{1010, 80}, {1000, 99}, {1005, 90}, {1011, 10}}),
            (Kept{"1010/80", "1000/99", "1005/90"}));
  // The same in any order, also where the fastest comes last.
  EXPECT_EQ(Ranked(3, {{1011, 10}, {1005, 90}, {1010, 80}, {1000, 99}}),
            (Kept{"1010/80", "1000/99", "1005/90"}));
  EXPECT_EQ(Ranked(1, {{1000, 99}, {1009, 50}}), (Kept{"1009/50"}));
  EXPECT_EQ(Ranked(1, {{1009, 50}, {1000, 99}}), (Kept{"1009/50"}));
  EXPECT_EQ(Ranked(1, {{1009, 50}, {990, 99}}), (Kept{"990/99"}));
  EXPECT_EQ(Ranked(2, {{1000, 50}, {1001, 50}}), (Kept{"1000/50", "1001/50"}));
  EXPECT_EQ(Ranked(2, {}), Kept{});
}

TEST(LiftsTest, AGroupOfTwoNodesLiesInOneRackOfThree) {
  EXPECT_EQ(NodesFor(RacksOfThree(3, 4), 8), testing::NodesOf({0, 1, 3, 4}));
}

TEST(LiftsTest, WhereAllNodesOfTheRacksAreNeededAllAreTaken) {
  EXPECT_EQ(NodesFor(RacksOfThree(2, 6), 8), testing::NodesOf({0, 1, 2, 3, 4, 5}));
}

TEST(LiftsTest, WithTooFewNodesThereIsNone) {
  EXPECT_TRUE(NodesFor(RacksOfThree(1, 4), 8).empty());
}

}  // namespace
}  // namespace weft::report
