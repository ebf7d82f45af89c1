#include "operator/search/knapsack.h"

#include <numeric>

#include "gtest/gtest.h"
#include "tests/support/fabric_builder.h"

namespace weft::placement {
namespace {

using weft::testing::Cluster;
using weft::testing::FreePerSpine;
using weft::testing::Leaves;
using weft::testing::MakeCluster;
using weft::testing::Spines;

// A job of `workers` nodes in one ring, on a cluster.
struct Ring {
  Ring(Cluster on, std::uint32_t workers) : cluster(std::move(on)) {
    request.job = "test/ring";
    request.workers = workers;
    request.pod.requests = {{"nvidia.com/gpu", 8}};
    request.grid = {workers};
    const auto traffic = traffic::ComputeTraffic(
        traffic::Model{std::nullopt, {{traffic::Axis::kData, 1000}}}, {}, workers, 8);
    graph.emplace(*traffic);
    instance.emplace(cluster.claims, request, *graph, Options{});
    walk.resize(workers);
    std::iota(walk.begin(), walk.end(), 0U);
  }

  // Units by leaf that the knapsack chooses, leaves in tree order.
  std::vector<std::uint32_t> UnitsByLeaf(std::uint32_t unit, std::uint32_t units) {
    const fabric::Tier leaf = instance->node_tier() - 1;
    std::vector<std::uint32_t> rooms;
    for (fabric::DomainIndex d = 0; d < cluster.fabric->domains(leaf).size(); ++d) {
      rooms.push_back(static_cast<std::uint32_t>(instance->SlotsIn(leaf, d)) / unit);
    }
    const Tree tree = Tree::OfLevels(*instance, fabric::kOutside, 0);
    const RunPrices prices(*graph, tree, walk, unit);
    Knapsack knapsack(tree, prices, leaf, rooms);
    std::vector<std::uint32_t> by_leaf(rooms.size(), 0);
    for (const Knapsack::Share& share : knapsack.Choose(fabric::kOutside, 0, units)) {
      by_leaf[share.bin] += share.units;
    }
    return by_leaf;
  }

  Cluster cluster;
  Request request;
  std::optional<traffic::WorkerGraph> graph;
  std::optional<Instance> instance;
  std::vector<std::uint32_t> walk;
};

using Counts = std::vector<std::uint32_t>;

TEST(Knapsack, TakesTheFewestLeavesForARing) {
  Ring ring(MakeCluster(Leaves({{8, 8}, {8, 8, 8, 8}, {8, 8, 8}})), 7);
  EXPECT_EQ(ring.UnitsByLeaf(1, 7), (Counts{0, 4, 3}));
}

TEST(Knapsack, CountsRoomInWholeUnits) {
  Ring ring(MakeCluster(Leaves({{8, 8, 8}, {8, 8, 8, 8}, {8, 8, 8, 8}})), 8);
  EXPECT_EQ(ring.UnitsByLeaf(4, 2), (Counts{0, 1, 1}));
}

TEST(Knapsack, PrefersOneSpineOfSmallLeavesToTwoSpines) {
  // The two largest leaves hold the job, but in two spines; the second spine alone takes three.
  const FreePerSpine wide = {{{8, 8, 8, 8}}}, narrow = {{{8, 8, 8, 8}}, {{8, 8}}, {{8, 8}}};
  Ring ring(MakeCluster(Spines({wide, narrow}, false)), 8);
  EXPECT_EQ(ring.UnitsByLeaf(1, 8), (Counts{0, 4, 2, 2}));
}

TEST(Knapsack, GivesWhatThereIsRoomFor) {
  Ring ring(MakeCluster(Leaves({{8, 8}, {8, 8, 8}})), 5);
  EXPECT_EQ(ring.UnitsByLeaf(2, 2), (Counts{1, 1}));
}

}  // namespace
}  // namespace weft::placement
