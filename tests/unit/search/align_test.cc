#include "operator/search/align.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "gtest/gtest.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/large_instance.h"

namespace weft::search {
namespace {

using weft::testing::Cluster;
using weft::testing::FreePerSpine;
using weft::testing::Leaves;
using weft::testing::MakeCluster;
using weft::testing::Spines;

using Bins = std::vector<std::uint32_t>;  // the numbers of domains

constexpr std::uint32_t kGroup = 4;
constexpr weft::testing::LargeOptions kSizes = {
    .fewest_nodes = 1000, .most_nodes = 2000, .fewest_workers = 32, .most_workers = 128};

// The order of a cluster's leaves for a walk of groups of four, which is cut for nothing only
// between two groups; leaf d takes taken[d] workers.
Bins Order(Cluster cluster, const std::vector<std::uint32_t>& taken) {
  objective::Request request;
  request.job = "test/groups";
  request.workers = std::accumulate(taken.begin(), taken.end(), 0U);
  request.pod.requests = {{"nvidia.com/gpu", 8}};
  const auto traffic = traffic::ComputeTraffic(
      traffic::Model{std::nullopt, {{traffic::Axis::kData, 1000}}}, {}, request.workers, 8);
  const traffic::WorkerGraph graph(*traffic);
  const objective::Instance instance(cluster.claims, request, graph, objective::Options{});
  const objective::Tree tree =
      objective::Tree::OfLevels(instance, fabric::kOutside, fabric::DomainIndex{0});
  std::vector<Int128> cuts;
  for (std::uint32_t x = 0; x <= request.workers; ++x) {
    cuts.push_back(x % kGroup * (kGroup - x % kGroup));
  }
  std::vector<Knapsack::Share> shares;
  for (std::uint32_t d = 0; d < taken.size(); ++d)
    shares.push_back({fabric::DomainIndex{d}, taken[d]});
  AlignShares(tree, fabric::kOutside, {1, tree.node_tier() - 1}, cuts, shares);
  Bins bins;
  for (const Knapsack::Share& share : shares) bins.push_back(share.bin.Raw());
  return bins;
}

TEST(AlignShares, EndsLeavesWhereGroupsEnd) {
  const std::vector<int> three = {8, 8, 8}, one = {8}, four = {8, 8, 8, 8};
  // In tree order every leaf but the last would end inside a group: 3, 6, 10, 11, 12.
  EXPECT_EQ(Order(MakeCluster(Leaves({three, three, four, one, one})), {3, 3, 4, 1, 1}),
            (Bins{2, 0, 3, 1, 4}));
}

TEST(AlignShares, KeepsTreeOrderOnATie) {
  const std::vector<int> four = {8, 8, 8, 8};
  EXPECT_EQ(Order(MakeCluster(Leaves({four, four, four})), {4, 4, 4}), (Bins{0, 1, 2}));
}

TEST(AlignShares, KeepsTheLeavesOfASpineTogether) {
  const FreePerSpine first = {{{8, 8, 8}}, {{8, 8}}}, second = {{{8}}, {{8, 8}}};
  // After leaf 0, leaf 2 alone would end a group; but it is in the other spine.
  EXPECT_EQ(Order(MakeCluster(Spines({first, second}, false)), {3, 2, 1, 2}), (Bins{0, 1, 3, 2}));
}

// The bytes between workers that come before a cut and the others, pair by pair.
Int128 Between(const traffic::WorkerGraph& graph, const ByWorker<bool>& before) {
  Int128 bytes = 0;
  for (const traffic::Edge& edge : graph.edges()) {
    if (before[edge.a] != before[edge.b]) bytes += edge.bytes;
  }
  for (const traffic::Clique& clique : graph.cliques()) {
    Int128 inside = 0, outside = 0;
    for (const traffic::Seat& seat : clique.members) {
      (before[seat.worker] ? inside : outside) += seat.ranks;
    }
    bytes += inside * outside * clique.bytes_per_rank_pair;
  }
  return bytes;
}

TEST(CutsOf, AreTheBytesBetweenTheFirstWorkersAndTheOthers) {
  std::size_t cliques = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto random =
        weft::testing::MakeLargeInstance(weft::testing::Family::kExpertsOnRacks, seed, kSizes);
    const traffic::WorkerGraph& graph = *random.graph;
    cliques += graph.cliques().size();
    std::vector<WorkerIndex> walk(graph.workers());
    std::iota(walk.begin(), walk.end(), WorkerIndex{0});
    std::rotate(walk.begin(), walk.begin() + static_cast<std::ptrdiff_t>(seed % walk.size()),
                walk.end());
    std::reverse(walk.begin(), walk.begin() + static_cast<std::ptrdiff_t>(walk.size() / 2));
    const std::vector<Int128> cuts = CutsOf(graph, walk);
    ASSERT_EQ(cuts.size(), walk.size() + 1);
    ByWorker<bool> before(walk.size(), false);
    for (std::size_t x = 0; x <= walk.size(); ++x) {
      if (x > 0) before[walk[x - 1]] = true;
      EXPECT_TRUE(cuts[x] == Between(graph, before)) << random.what << ", cut " << x;
    }
  }
  EXPECT_GT(cliques, 0U);
}

}  // namespace
}  // namespace weft::search
