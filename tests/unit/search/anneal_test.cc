#include "operator/search/anneal.h"

#include <algorithm>
#include <numeric>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/objective/hard_rules.h"
#include "operator/objective/levels.h"
#include "operator/objective/units.h"
#include "operator/search/seats.h"
#include "operator/search/spread.h"
#include "operator/search/strand_moves.h"
#include "operator/search/strands.h"
#include "operator/search/torus_search.h"
#include "operator/traffic/worker_grid.h"
#include "tests/support/placement_scene.h"
#include "tests/support/torus_shape.h"

namespace weft::search {
namespace {

using fabric::NodeIndex;
using objective::Instance;
using testing::PlacementScene;
using traffic::Axis;

// A job of stages x replicas, `gpus` a worker, on a torus of 6 x 6 x 6 nodes of 8 GPUs of which
// half are free, by chance.
PlacementScene Scattered(std::uint32_t workers, std::int64_t stages, std::uint32_t gpus = 8,
                         std::uint64_t seed = 1) {
  SplitMix64 random(seed);
  std::vector<bool> free;
  for (int p = 0; p < 216; ++p) free.push_back(random.Below(100) < 50);
  testing::FabricShape shape = testing::TorusOf({6, 6, 6}, free);
  shape.hop_femtoseconds_per_byte = 1'000;
  traffic::Parallelism parallelism;
  parallelism.pipeline = stages;
  PlacementScene scene(shape, workers, gpus, {{Axis::kPipeline, 9000}, {Axis::kData, 3000}},
                       parallelism);
  scene.request.grid = traffic::WorkerGrid(parallelism, workers, gpus);
  return scene;
}

std::vector<traffic::Edge> EdgesOf(const Instance& instance) {
  ByWorker<WorkerIndex> each(instance.workers());
  std::iota(each.begin(), each.end(), WorkerIndex{0});
  return objective::TrafficBetween(instance.graph(), each, each.EndIndex());
}

Seats SeatsOfAll(const Instance& instance) {
  NodeIndex first{0};
  while (instance.slots()[first] == 0) ++first;
  const ByWorker<NodeIndex> nodes = {first};
  return {instance, nodes, NodeIndex{0}, instance.slots().EndIndex()};
}

TEST(Seats, HaveTheHopsOfTheTorusAndTheNearestHostsBesideThem) {
  const PlacementScene scene = Scattered(32, 4, 4);  // two workers fit in a node
  const Instance instance = scene.Prepare();
  const fabric::Torus& torus = *instance.pair_cost().torus();
  const Seats seats = SeatsOfAll(instance);
  EXPECT_FALSE(seats.one_a_host());
  EXPECT_EQ(seats.size(), instance.TotalSlots());
  for (std::uint32_t a = 0; a < seats.size(); ++a) {
    for (std::uint32_t b = 0; b < seats.size(); ++b) {
      EXPECT_EQ(seats.Hops(a, b), torus.Hops(seats.node(a), seats.node(b)));
    }
    const auto near = seats.Near(a);
    ASSERT_GT(near.size(), 2U);
    EXPECT_EQ(seats.Hops(a, near[0]), 0U) << "the host's other seat comes first";
    EXPECT_TRUE(std::is_sorted(near.begin(), near.end(), [&](std::uint32_t x, std::uint32_t y) {
      return seats.Hops(a, x) < seats.Hops(a, y);
    }));
  }
  EXPECT_EQ(seats.SeatsOf(ByWorker<NodeIndex>{seats.node(2), seats.node(2)}),
            (ByWorker<std::uint32_t>{2, 3}));
}

TEST(Strands, FollowEveryDigitAndKeepWhatHeavierDigitsJoinInClusters) {
  const PlacementScene scene = Scattered(32, 4);
  const Instance instance = scene.Prepare();
  const std::vector<Strands> digits = StrandsOf(instance, EdgesOf(instance));
  ASSERT_EQ(digits.size(), 2U);
  std::uint32_t with_clusters = 0;
  for (const Strands& strands : digits) {
    for (const WorkerIndex w : Range<WorkerIndex>(32)) {
      const WorkerIndex next = strands.Along(w, 1);
      if (next == kNoWorker) continue;  // the end of a pipeline
      EXPECT_EQ(strands.Along(next, -1), w);
      EXPECT_EQ(strands.StepsTo(w, next, 1), 1);
      const auto peers = instance.graph().neighbours(w);
      EXPECT_TRUE(std::any_of(peers.begin(), peers.end(),
                              [&](const auto& peer) { return peer.worker == next; }));
    }
    with_clusters += strands.largest_cluster() > 1 ? 1 : 0;
  }
  EXPECT_EQ(digits[0].largest_cluster(), 1U) << "no digit is heavier than the first";
  EXPECT_EQ(with_clusters, 1U);
}

TEST(StrandMoves, GiveEveryWorkerASeatOfItsOwn) {
  const PlacementScene scene = Scattered(32, 4);
  const Instance instance = scene.Prepare();
  const Seats seats = SeatsOfAll(instance);
  const std::vector<Strands> digits = StrandsOf(instance, EdgesOf(instance));
  Seating seating{{}, std::vector<WorkerIndex>(seats.size(), kNoWorker)};
  for (std::uint32_t w = 0; w < 32; ++w) {
    seating.seat_of.push_back(2 * w);
    seating.at[2 * w] = WorkerIndex(w);
  }
  StrandMoves moves(digits, seats, seating);
  SplitMix64 random(1);
  std::size_t most = 0, several = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto& proposed = moves.Propose(random);
    for (const auto& move : proposed) seating.at[seating.seat_of[move.worker]] = kNoWorker;
    for (const auto& move : proposed) {
      ASSERT_EQ(seating.at[move.seat], kNoWorker) << "a seat is given twice";
      seating.at[move.seat] = move.worker;
      seating.seat_of[move.worker] = move.seat;
    }
    most = std::max(most, proposed.size());
    several += proposed.size() > 1 ? 1 : 0;
    for (const WorkerIndex w : Range<WorkerIndex>(32)) ASSERT_EQ(seating.at[seating.seat_of[w]], w);
  }
  EXPECT_GT(several, 5'000U);
  EXPECT_GT(most, 8U);
}

TEST(AnnealBest, LowersTheCostOnScatteredHostsByTheRulesAndTheSameEveryTime) {
  for (const std::uint32_t gpus : {8U, 4U}) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const PlacementScene scene = Scattered(64, 4, gpus, seed);
      const Instance instance = scene.Prepare();
      std::vector<objective::Candidate> candidates =
          TorusCandidates(instance, fabric::kOutside, fabric::DomainIndex{0});
      ASSERT_FALSE(candidates.empty());
      std::stable_sort(candidates.begin(), candidates.end(),
                       [](const auto& a, const auto& b) { return a.objective() < b.objective(); });
      std::vector<objective::Candidate> again = candidates;
      const Int128 before = candidates.front().cost;
      EXPECT_EQ(AnnealBest(instance, 0, candidates), gpus == 8);
      EXPECT_LT(candidates.front().cost, before - before / 10) << gpus << ", seed " << seed;
      EXPECT_TRUE(objective::MeetsHardRules(instance, candidates.front().nodes));
      AnnealBest(instance, 0, again);
      EXPECT_EQ(again.front().nodes, candidates.front().nodes);
    }
  }
}

TEST(AnnealBest, LeavesAJobAloneWhosePlacementIsGoodEnough) {
  const PlacementScene scene = Scattered(64, 4);
  const Instance instance = scene.Prepare();
  std::vector<objective::Candidate> candidates =
      TorusCandidates(instance, fabric::kOutside, fabric::DomainIndex{0});
  const std::size_t count = candidates.size();
  EXPECT_FALSE(AnnealBest(instance, candidates.front().cost, candidates));
  EXPECT_EQ(candidates.size(), count);
}

TEST(SpreadLayout, KeepsALayoutWhoseBoxIsFreeAsItIs) {
  const testing::Cluster cluster =
      testing::MakeCluster(testing::TorusOf({4, 4, 4}, std::vector<bool>(64, true)));
  const fabric::Torus& torus = *cluster.fabric->torus();
  BoxLayout layout{{4, 2, 2}, {}, 0};
  std::vector<NodeIndex> nodes;
  for (std::uint16_t z = 0; z < 2; ++z) {
    for (std::uint16_t y = 0; y < 2; ++y) {
      for (std::uint16_t x = 0; x < 4; ++x) {
        layout.places.push_back({x, y, z});
        nodes.push_back(torus.At(0, {x, y, static_cast<std::uint16_t>((z + 3) % 4)}));
      }
    }
  }
  const std::vector<NodeIndex> expected = nodes;
  std::reverse(nodes.begin(), nodes.end());
  EXPECT_EQ(SpreadLayout(layout, torus, objective::Box{{0, 0, 3}, {4, 2, 2}}, nodes), expected);
}

}  // namespace
}  // namespace weft::search
