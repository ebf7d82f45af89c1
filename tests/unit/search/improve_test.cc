#include "operator/search/improve.h"

#include <gtest/gtest.h>

#include "operator/objective/levels.h"
#include "tests/support/placement_scene.h"

namespace weft::search {
namespace {

using fabric::NodeIndex;
using objective::Evaluate;
using objective::Instance;
using testing::PlacementScene;

constexpr std::uint32_t kSteps = 100'000;
constexpr fabric::Tier kLeaf{2};

// Pairs of neighbouring workers exchange 2,000 bytes, and nothing else is sent; one worker a node.
PlacementScene Pairs(const testing::FabricShape& shape, std::uint32_t workers) {
  traffic::Parallelism parallelism;
  parallelism.tensor = 2;
  return {shape, workers, 1, {{traffic::Axis::kTensor, 1000}}, parallelism};
}

// One GPU a node.
testing::FabricShape Single(const std::vector<testing::FreePerNode>& free) {
  return testing::Leaves(free, 1);
}

std::string Improved(const PlacementScene& scene, const ByWorker<NodeIndex>& start,
                     std::uint32_t steps = kSteps, Int128 enough = 0) {
  const Instance instance = scene.Prepare();
  const auto better = Improve(instance, Evaluate(instance, start), steps, enough);
  if (!better) return "no better";
  EXPECT_EQ(better->cost, Evaluate(instance, better->nodes).cost);
  return scene.Show(better->nodes);
}

TEST(Improve, SwapsWorkersUntilPairsShareALeaf) {
  const PlacementScene scene = Pairs(Single({{1, 1}, {1, 1}}), 4);
  EXPECT_EQ(Improved(scene, scene.At({"n0", "n2", "n1", "n3"})), "n3 n2 n1 n0");
}

TEST(Improve, MovesAWorkerToAFreeSlot) {
  const PlacementScene scene = Pairs(Single({{1, 1}, {1}}), 2);
  EXPECT_EQ(Improved(scene, scene.At({"n0", "n2"})), "n0 n1");
}

TEST(Improve, LeavesWhatIsBest) {
  const PlacementScene scene = Pairs(Single({{1, 1}, {1, 1}}), 4);
  EXPECT_EQ(Improved(scene, scene.At({"n0", "n1", "n2", "n3"})), "no better");
}

TEST(Improve, LeavesWhatIsGoodEnoughOrHasNoStepsLeft) {
  const PlacementScene scene = Pairs(Single({{1, 1}, {1, 1}}), 4);
  const ByWorker<NodeIndex> start = scene.At({"n0", "n2", "n1", "n3"});
  const Int128 cost = Evaluate(scene.Prepare(), start).cost;
  EXPECT_EQ(Improved(scene, start, kSteps, cost), "no better");
  EXPECT_NE(Improved(scene, start, kSteps, cost - 1), "no better");
  EXPECT_EQ(Improved(scene, start, 0), "no better");
}

TEST(Improve, NeverOverfillsANode) {
  const PlacementScene scene = Pairs(testing::Leaves({{2, 1}, {2, 2}}, 2), 6);
  const Instance instance = scene.Prepare();
  const auto better = Improve(
      instance, Evaluate(instance, scene.At({"n0", "n2", "n0", "n2", "n1", "n3"})), kSteps, 0);
  ASSERT_TRUE(better);
  std::map<NodeIndex, std::uint32_t> load;
  for (const NodeIndex n : better->nodes) ++load[n];
  for (const auto& [n, count] : load) EXPECT_LE(count, instance.slots()[n]) << n.Raw();
  EXPECT_EQ(better->cost, 0);
}

TEST(Improve, StaysInsideTheDomainsThatAreRequired) {
  PlacementScene scene = Pairs(Single({{1, 1, 1}, {1, 1}}), 2);
  scene.request.required = kLeaf;
  EXPECT_EQ(Improved(scene, scene.At({"n0", "n1"})), "no better");
  // Sets {0, 2} and {1, 3} must share a leaf, and pairs {0, 1} and {2, 3} talk: no swap may help.
  PlacementScene groups = Pairs(Single({{1, 1}, {1, 1}}), 4);
  groups.request.groups = {{testing::WorkerSetsOf({{0, 2}, {1, 3}}), kLeaf, std::nullopt}};
  EXPECT_EQ(Improved(groups, groups.At({"n0", "n2", "n1", "n3"})), "no better");
  groups.request.groups = {{testing::WorkerSetsOf({{0, 2}, {1, 3}}), std::nullopt, kLeaf}};
  EXPECT_EQ(Improved(groups, groups.At({"n0", "n2", "n1", "n3"})), "no better");
}

TEST(Improve, OfALargeJobLooksNearTheNeighbours) {
  constexpr std::uint32_t kWorkers = 128;
  const std::vector<testing::FreePerNode> leaves(8, testing::FreePerNode(16, 1));
  const PlacementScene scene = Pairs(Single(leaves), kWorkers);
  const Instance instance = scene.Prepare();
  ByWorker<NodeIndex> best;
  for (std::uint32_t w = 0; w < kWorkers; ++w) best.emplace_back(w);
  ByWorker<NodeIndex> swapped = best;
  std::swap(swapped[WorkerIndex{0}], swapped[WorkerIndex{40}]);
  std::swap(swapped[WorkerIndex{63}], swapped[WorkerIndex{100}]);
  const objective::Candidate start = Evaluate(instance, swapped);
  const auto better = Improve(instance, start, kSteps, 0);
  ASSERT_TRUE(better);
  EXPECT_GT(start.cost, Evaluate(instance, best).cost);
  EXPECT_EQ(better->cost, Evaluate(instance, best).cost);
}

TEST(Improve, OfALargeJobWorkersOfOneLeafChangePlacesToo) {
  constexpr std::uint32_t kWorkers = 128;
  const std::vector<testing::FreePerNode> leaves(8, testing::FreePerNode(8, 2));
  const PlacementScene scene = Pairs(testing::Leaves(leaves, 2), kWorkers);
  const Instance instance = scene.Prepare();
  // Of each four workers 0 and 2 stand on one node, 1 and 3 on the next of the same leaf.
  ByWorker<NodeIndex> crossed;
  for (std::uint32_t w = 0; w < kWorkers; ++w) crossed.emplace_back(w / 4 * 2 + w % 2);
  const auto better = Improve(instance, Evaluate(instance, crossed), kSteps, 0);
  ASSERT_TRUE(better);
  EXPECT_EQ(better->cost, 0);
}

}  // namespace
}  // namespace weft::search
