#include "operator/search/knapsack.h"

#include <limits>
#include <numeric>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/placement_scene.h"

namespace weft::search {
namespace {

using objective::Tree;
using weft::testing::Cluster;
using weft::testing::FreePerSpine;
using weft::testing::Leaves;
using weft::testing::MakeCluster;
using weft::testing::Spines;

using RoomsOfBins = IndexSpan<fabric::DomainIndex, const std::uint32_t>;

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
    instance.emplace(cluster.claims, request, *graph, objective::Options{});
    walk.resize(workers);
    std::iota(walk.begin(), walk.end(), WorkerIndex{0});
  }

  // Units by leaf that the knapsack chooses, leaves in tree order.
  std::vector<std::uint32_t> UnitsByLeaf(std::uint32_t unit, std::uint32_t units) {
    const fabric::Tier leaf = instance->node_tier() - 1;
    std::vector<std::uint32_t> rooms;
    for (fabric::DomainIndex d{0}; d < cluster.fabric->domains(leaf).EndIndex(); ++d) {
      rooms.push_back(static_cast<std::uint32_t>(instance->SlotsIn(leaf, d)) / unit);
    }
    const Tree tree = Tree::OfLevels(*instance, fabric::kOutside, fabric::DomainIndex{0});
    const RunPrices prices(*graph, tree, walk, unit);
    Knapsack knapsack(tree, prices, leaf, RoomsOfBins(rooms));
    std::vector<std::uint32_t> by_leaf(rooms.size(), 0);
    for (const Knapsack::Share& share :
         knapsack.Choose(fabric::kOutside, fabric::DomainIndex{0}, units)) {
      by_leaf[share.bin.Raw()] += share.units;
    }
    return by_leaf;
  }

  Cluster cluster;
  objective::Request request;
  std::optional<traffic::WorkerGraph> graph;
  std::optional<objective::Instance> instance;
  std::vector<WorkerIndex> walk;
};

using Counts = std::vector<std::uint32_t>;

constexpr fabric::Tier kLeaf{2}, kNode{3};

// The least cost of workers on nodes of their own: where all leaves from by_leaf.size() on take
// `left`, given what those before took.
std::int64_t LeastCost(const Tree& tree, const RunPrices& prices, const Counts& rooms,
                       std::uint32_t left, Counts& by_leaf) {
  const std::size_t leaf = by_leaf.size();
  if (leaf == rooms.size()) {
    if (left > 0) return std::numeric_limits<std::int64_t>::max();
    std::int64_t cost = 0;
    for (fabric::DomainIndex spine{0}; spine < tree.domains(fabric::Tier{1}).EndIndex(); ++spine) {
      std::uint32_t units = 0;
      const auto& leaves = tree.domains(fabric::Tier{1}).child_begin;
      for (fabric::DomainIndex l = leaves[spine]; l < leaves[spine + 1]; ++l) {
        cost += prices.Of(fabric::Tier{2}, by_leaf[l.Raw()]) +
                by_leaf[l.Raw()] * prices.Of(fabric::Tier{3}, 1);
        units += by_leaf[l.Raw()];
      }
      cost += prices.Of(fabric::Tier{1}, units);
    }
    return cost;
  }
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t k = 0; k <= std::min(left, rooms[leaf]); ++k) {
    by_leaf.push_back(k);
    least = std::min(least, LeastCost(tree, prices, rooms, left - k, by_leaf));
    by_leaf.pop_back();
  }
  return least;
}

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

TEST(Knapsack, FillsADomainInPartIfAllOfItIsTooMuch) {
  // Of a ring, a part of a spine costs as much as all of it.
  const FreePerSpine spine = {{{8, 8, 8, 8}}};
  Ring ring(MakeCluster(Spines({spine, spine}, false)), 5);
  EXPECT_EQ(ring.UnitsByLeaf(1, 5), (Counts{1, 4}));
}

TEST(Knapsack, TakesTheFirstOfEquallyTightLeavesInUseBeforeFree) {
  Ring free(MakeCluster(Leaves({{8, 8, 8, 8}, {8, 8}, {8, 8}, {8, 8, 8}})), 6);
  EXPECT_EQ(free.UnitsByLeaf(1, 6), (Counts{4, 2, 0, 0}));
  Ring in_use(MakeCluster(Leaves({{8, 8, 8, 8}, {8, 8}, {8, 8, 4}, {8, 8, 4}})), 6);
  EXPECT_EQ(in_use.UnitsByLeaf(1, 6), (Counts{4, 0, 2, 0}));
}

TEST(Knapsack, GivesWhatThereIsRoomFor) {
  Ring ring(MakeCluster(Leaves({{8, 8}, {8, 8, 8}})), 5);
  EXPECT_EQ(ring.UnitsByLeaf(2, 2), (Counts{1, 1}));
}

// Stages of a pipeline in rings of replicas, on a few spines of a few leaves.
TEST(Knapsack, NoOtherWayToFillTheLeavesIsCheaper) {
  SplitMix64 random(11);
  for (int round = 0; round < 60; ++round) {
    testing::FreePerFabric spines(1 + random.Below(3));
    Counts rooms;
    for (FreePerSpine& spine : spines) {
      for (std::uint64_t leaves = 1 + random.Below(2); leaves > 0; --leaves) {
        rooms.push_back(static_cast<std::uint32_t>(1 + random.Below(4)));
        spine.push_back({testing::FreePerNode(rooms.back(), 8)});
      }
    }
    const std::uint32_t room = std::accumulate(rooms.begin(), rooms.end(), 0U);
    if (room < 2) continue;
    // Enough for the tree to keep every leaf.
    const auto workers =
        static_cast<std::uint32_t>(room - random.Below(std::min(room - 1, 3 * room / 4)));
    traffic::Parallelism parallelism;
    parallelism.pipeline = workers % 2 == 0 ? 2 : 1;
    const testing::PlacementScene scene(
        Spines(spines, false), workers, 8,
        {{traffic::Axis::kData, 1000}, {traffic::Axis::kPipeline, 700}}, parallelism);
    const objective::Instance instance = scene.Prepare();
    const Tree tree = Tree::OfLevels(instance, fabric::kOutside, fabric::DomainIndex{0});
    std::vector<WorkerIndex> walk(workers);
    std::iota(walk.begin(), walk.end(), WorkerIndex{0});
    const RunPrices prices(scene.graph, tree, walk, 1);
    Counts none;
    const std::int64_t least = LeastCost(tree, prices, rooms, workers, none);
    const Counts nodes(room, 1);
    for (const fabric::Tier bins : {kLeaf, kNode}) {
      Counts chosen(rooms.size(), 0);
      Knapsack knapsack(tree, prices, bins, RoomsOfBins(bins == kLeaf ? rooms : nodes));
      for (const Knapsack::Share& share :
           knapsack.Choose(fabric::kOutside, fabric::DomainIndex{0}, workers)) {
        EXPECT_GT(share.units, 0U);
        const bool leaf = bins == kLeaf;
        chosen[(leaf ? share.bin : tree.domains(kLeaf).of_position[share.bin.Raw()]).Raw()] +=
            share.units;
      }
      EXPECT_EQ(LeastCost(tree, prices, chosen, workers, none), least)
          << "round " << round << ", bins of tier " << bins.Raw();
    }
  }
}

// Experts in two groups of 16, where a pair exchanges 200 bytes: k in a row leave k x (16 - k)
// pairs.
TEST(RunPrices, OfARunAreTheBytesThatLeaveIt) {
  traffic::Parallelism parallelism;
  parallelism.expert = 16;
  const testing::PlacementScene scene(Leaves({{8, 8, 8, 8}, {8, 8, 8, 8}}), 32, 1,
                                      {{traffic::Axis::kExpert, 15 * 100}}, parallelism);
  ASSERT_EQ(scene.graph.cliques().size(), 2U);
  const objective::Instance instance = scene.Prepare();
  const Tree tree = Tree::OfLevels(instance, fabric::kOutside, fabric::DomainIndex{0});
  std::vector<WorkerIndex> walk(32);
  std::iota(walk.begin(), walk.end(), WorkerIndex{0});
  const std::int64_t one =
      200 * 32 * tree.step(fabric::Tier{2});  // one pair, for each of the walk's runs

  const RunPrices least(scene.graph, tree, walk, 1, RunPrices::Kind::kLeast);
  EXPECT_EQ(least.units(), 32U);
  for (const std::uint32_t k : {0U, 1U, 4U, 8U, 15U, 16U}) {
    EXPECT_EQ(least.Of(fabric::Tier{2}, k), k * (16 - k) * one) << k;
  }
  EXPECT_EQ(least.Of(fabric::Tier{2}, 20), 4 * 12 * one);  // a whole group and four of the other
  EXPECT_EQ(least.Of(fabric::Tier{1}, 4) * tree.step(fabric::Tier{2}),
            least.Of(fabric::Tier{2}, 4) * tree.step(fabric::Tier{1}));

  // The mean over the runs, seen as a ring: the pairs that are d < 16 apart, 16 - d in each group,
  // leave 2 min(d, k) runs.
  const RunPrices mean(scene.graph, tree, walk, 1);
  EXPECT_EQ(mean.Of(fabric::Tier{2}, 1), 15 * one);
  EXPECT_EQ(mean.Of(fabric::Tier{2}, 16), 85 * one);  // 4 x the sum of d (16 - d), over 32 runs
  EXPECT_EQ(mean.Of(fabric::Tier{2}, 31), mean.Of(fabric::Tier{2}, 1));
  EXPECT_EQ(mean.Of(fabric::Tier{2}, 32), 0);
  // In units of 16 every group is one.
  EXPECT_EQ(RunPrices(scene.graph, tree, walk, 16).Of(fabric::Tier{2}, 1), 0);
}

}  // namespace
}  // namespace weft::search
