#include "operator/search/torus_search.h"

#include <algorithm>
#include <ctime>
#include <iostream>
#include <memory>
#include <set>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/objective/levels.h"
#include "operator/placement/place.h"
#include "operator/search/bisect.h"
#include "operator/search/free_places.h"
#include "operator/traffic/worker_grid.h"
#include "tests/support/torus_shape.h"

namespace weft::search {
namespace {

using fabric::NodeIndex;
using objective::Box;
using objective::Instance;
using objective::TorusSize;
using placement::Plan;
using traffic::Axis;

constexpr std::int64_t kHop = 1'000;

std::vector<bool> RandomFree(SplitMix64& random, std::size_t places, std::uint64_t percent) {
  std::vector<bool> free;
  for (std::size_t p = 0; p < places; ++p) free.push_back(random.Below(100) < percent);
  return free;
}

testing::Cluster Torus(const std::vector<std::uint32_t>& sizes, const std::vector<bool>& free,
                       bool wraps = true) {
  testing::FabricShape shape = testing::TorusOf(sizes, free, wraps);
  shape.hop_femtoseconds_per_byte = kHop;
  return testing::MakeCluster(shape);
}

// A job of one worker a node, of stages times replicas.
struct Job {
  Job(std::uint32_t stages, std::uint32_t replicas) {
    const std::uint32_t workers = stages * replicas;
    traffic::Parallelism shape;
    shape.pipeline = stages;
    const traffic::Model model{std::nullopt, {{Axis::kPipeline, 1000}, {Axis::kData, 3000}}};
    auto computed = traffic::ComputeTraffic(model, shape, workers, 8);
    graph = std::make_unique<traffic::WorkerGraph>(*computed);
    request.job = "test/job";
    request.workers = workers;
    request.pod.requests = {{"nvidia.com/gpu", 8}};
    request.grid = traffic::WorkerGrid(shape, workers, 8);
  }
  Plan Solve(const testing::Cluster& cluster) const {
    const placement::Placement placement = placement::Place(cluster.claims, request, *graph);
    const Plan* plan = std::get_if<Plan>(&placement);
    return plan == nullptr ? Plan{} : *plan;
  }
  Int128 bytes() const {
    Int128 sum = 0;
    for (const traffic::Edge& edge : graph->edges()) sum += edge.bytes;
    return sum;
  }

  std::unique_ptr<traffic::WorkerGraph> graph;
  objective::Request request;
};

// Holes of the box, place by place.
std::uint32_t CountHoles(const FreePlaces& places, const Box& box) {
  std::uint32_t holes = 0;
  for (std::uint16_t z = 0; z < box.size[2]; ++z) {
    for (std::uint16_t y = 0; y < box.size[1]; ++y) {
      for (std::uint16_t x = 0; x < box.size[0]; ++x) {
        holes += places.IsFree(places.At(box, {x, y, z})) ? 0 : 1;
      }
    }
  }
  return holes;
}

TEST(FreePlacesTest, FindsTheBoxesWithTheFewestHolesThatThereAre) {
  SplitMix64 random(1);
  std::uint32_t whole = 0;
  for (int round = 0; round < 60; ++round) {
    const std::vector<std::uint32_t> sizes = {1 + static_cast<std::uint32_t>(random.Below(5)),
                                              1 + static_cast<std::uint32_t>(random.Below(6)),
                                              1 + static_cast<std::uint32_t>(random.Below(7))};
    const bool wraps = random.Below(3) > 0;
    const std::uint64_t percent = 40 + random.Below(60);
    const testing::Cluster cluster =
        Torus(sizes, RandomFree(random, sizes[0] * sizes[1] * sizes[2], percent), wraps);
    const Job job(1, 2);
    const Instance instance(cluster.claims, job.request, *job.graph);
    const FreePlaces places(instance, 0, NodeIndex{0}, instance.slots().EndIndex(), 1);
    for (int shape = 0; shape < 6; ++shape) {
      TorusSize size;
      for (std::size_t d = 0; d < 3; ++d) {
        size[d] = 1 + static_cast<std::uint32_t>(random.Below(sizes[d]));
      }
      std::uint32_t least = ~0U;
      for (std::uint16_t z = 0; z < sizes[2]; ++z) {
        for (std::uint16_t y = 0; y < sizes[1]; ++y) {
          for (std::uint16_t x = 0; x < sizes[0]; ++x) {
            const bool over =
                x + size[0] > sizes[0] || y + size[1] > sizes[1] || z + size[2] > sizes[2];
            if (over && !wraps) continue;
            least = std::min(least, CountHoles(places, {{x, y, z}, size}));
          }
        }
      }
      const std::vector<Box> boxes = places.Best(size, 3, ~0U);
      ASSERT_FALSE(boxes.empty());
      EXPECT_EQ(places.Holes(boxes.front()), least);
      for (const Box& box : boxes) EXPECT_EQ(places.Holes(box), CountHoles(places, box));
      whole += least == 0 ? 1 : 0;
    }
  }
  EXPECT_GT(whole, 30U);
  EXPECT_LT(whole, 330U);
}

TEST(FreePlacesTest, OfEqualBoxesThatWithTheFewestFreePlacesAroundIsTheFirst) {
  // A ring of ten: 0 to 3 are free, and 5 and 6.
  std::vector<bool> free(10, false);
  for (const std::size_t n : {0, 1, 2, 3, 5, 6}) free[n] = true;
  const testing::Cluster cluster = Torus({10}, free);
  const Job job(1, 2);
  const Instance instance(cluster.claims, job.request, *job.graph);
  const FreePlaces places(instance, 0, NodeIndex{0}, instance.slots().EndIndex(), 1);
  EXPECT_EQ(places.Best({2, 1, 1}, 2, 0),
            (std::vector<Box>{{{5, 0, 0}, {2, 1, 1}}, {{0, 0, 0}, {2, 1, 1}}}));
}

// Whether a box of 2 x 2 x 4 or 2 x 4 x 2 or 4 x 2 x 2 is free: two stages of eight replicas then
// need no hop more than one.
bool AnyBoxIsFree(const testing::Cluster& cluster, const Job& job) {
  const Instance instance(cluster.claims, job.request, *job.graph);
  const FreePlaces places(instance, 0, NodeIndex{0}, instance.slots().EndIndex(), 1);
  const auto& sizes = cluster.fabric->torus()->shape(0).sizes();
  for (const TorusSize& size : {TorusSize{2, 2, 4}, TorusSize{2, 4, 2}, TorusSize{4, 2, 2}}) {
    for (std::uint16_t z = 0; z < sizes[2]; ++z) {
      for (std::uint16_t y = 0; y < sizes[1]; ++y) {
        for (std::uint16_t x = 0; x < sizes[0]; ++x) {
          if (CountHoles(places, {{x, y, z}, size}) == 0) return true;
        }
      }
    }
  }
  return false;
}

TEST(TorusSearchTest, OnFragmentedTorusesABoxIsFoundWhereThereIsOne) {
  SplitMix64 random(2);
  const Job job(2, 8);
  int with_box = 0, without = 0;
  for (int round = 0; round < 60; ++round) {
    const testing::Cluster cluster =
        Torus({4, 5, 6}, RandomFree(random, 120, 60 + random.Below(30)));
    const Plan plan = job.Solve(cluster);
    ASSERT_FALSE(plan.nodes.empty());
    const Int128 least = job.bytes() * kHop;
    if (AnyBoxIsFree(cluster, job)) {
      ++with_box;
      EXPECT_EQ(plan.cost == least, true) << "round " << round;
      EXPECT_EQ(plan.lower_bound == least, true);
    } else {
      ++without;
      EXPECT_LE(static_cast<double>(plan.cost), 1.6 * static_cast<double>(least));
    }
  }
  EXPECT_GT(with_box, 10);
  EXPECT_GT(without, 10);
}

TEST(TorusSearchTest, RingsCloseInABoxOfAFullTorus) {
  // 1,024 chips of 8,960, and smaller jobs: every byte between hosts crosses one link.
  const testing::Cluster cluster = Torus({8, 10, 28}, std::vector<bool>(2240, true));
  for (const auto& [stages, replicas] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{4, 64}, {8, 32}, {2, 12}, {1, 40}}) {
    const Job job(stages, replicas);
    const Plan plan = job.Solve(cluster);
    EXPECT_EQ(plan.cost == job.bytes() * kHop, true) << stages << " x " << replicas;
    EXPECT_EQ(plan.cost == plan.lower_bound, true) << stages << " x " << replicas;
  }
}

TEST(TorusSearchTest, TheWorkersOfAHoleGoToTheNearestFreePlaces) {
  // A mesh of 4 x 4 without (1, 1) and (2, 3): no box of 3 x 4 is whole.
  std::vector<bool> free(16, true);
  free[5] = free[14] = false;
  const testing::Cluster cluster = Torus({4, 4}, free, false);
  const Job job(3, 4);
  const Instance instance(cluster.claims, job.request, *job.graph);
  const std::vector<objective::Candidate> candidates =
      TorusCandidates(instance, fabric::kOutside, fabric::DomainIndex{0});
  ASSERT_FALSE(candidates.empty());
  for (const objective::Candidate& candidate : candidates) {
    std::vector<NodeIndex> nodes = candidate.nodes.Items();
    std::sort(nodes.begin(), nodes.end());
    EXPECT_TRUE(std::adjacent_find(nodes.begin(), nodes.end()) == nodes.end());
    for (const NodeIndex n : nodes) EXPECT_EQ(instance.slots()[n], 1U);
  }
}

TEST(TorusSearchTest, AJobForWhichNoTorusHasRoomGetsNone) {
  const testing::Cluster cluster = Torus({4, 4}, std::vector<bool>(16, true));
  const Job job(1, 17);
  const Instance instance(cluster.claims, job.request, *job.graph);
  EXPECT_TRUE(TorusCandidates(instance, fabric::kOutside, fabric::DomainIndex{0}).empty());
}

// Pods full of nodes, each with one torus of its own sizes: pod K is pK.
testing::Cluster Pods(const std::vector<std::vector<std::uint32_t>>& pods) {
  testing::FabricShape shape;
  shape.levels = {{"pod", 40'000}};
  shape.hop_femtoseconds_per_byte = kHop;
  shape.torus_level = "pod";
  for (std::size_t p = 0; p < pods.size(); ++p) {
    const std::string pod = testing::Numbered("p", p);
    if (p > 0) shape.torus_shapes.push_back({{pod}, pods[p], {}});
    testing::FabricShape one =
        testing::TorusOf(pods[p], std::vector<bool>(std::size_t{pods[p][0]} * pods[p][1], true));
    if (p == 0) shape.torus = one.torus;
    for (testing::TestNode& node : one.nodes) {
      node.name = pod + "-" + node.name;
      node.domains = {pod};
      shape.nodes.push_back(std::move(node));
    }
  }
  return testing::MakeCluster(shape);
}

std::set<std::uint32_t> TorusesOf(const testing::Cluster& cluster, const Plan& plan) {
  std::set<std::uint32_t> toruses;
  for (const NodeIndex n : plan.nodes) toruses.insert(cluster.fabric->torus()->torus_of(n));
  return toruses;
}

// Five full rings have less room than the torus, but only there all of the job's rings close.
TEST(TorusSearchTest, AJobGoesToTheShapeThatSuitsIt) {
  const testing::Cluster cluster = Pods({{16, 1}, {16, 1}, {16, 1}, {16, 1}, {16, 1}, {8, 4}});
  const Job square(4, 4);
  const Plan plan = square.Solve(cluster);
  EXPECT_EQ(TorusesOf(cluster, plan), std::set<std::uint32_t>{5});
  EXPECT_EQ(plan.cost == square.bytes() * kHop, true);
  EXPECT_EQ(plan.cost == plan.lower_bound, true);
  const Job ring(1, 16);
  EXPECT_EQ(ring.Solve(cluster).cost == ring.bytes() * kHop, true);
}

TEST(TorusSearchTest, AJobMaySpanTorusesOfTwoShapes) {
  const testing::Cluster cluster = Pods({{4, 4}, {16, 1}});
  const Job job(2, 16);
  const Plan plan = job.Solve(cluster);
  EXPECT_EQ(TorusesOf(cluster, plan).size(), 2U);
  // Each replica of a stage is in one pod: only the bytes between stages leave it.
  Int128 outside = 0;
  for (const traffic::Edge& edge : job.graph->edges()) {
    const fabric::Torus& torus = *cluster.fabric->torus();
    if (!torus.SameTorus(plan.nodes[edge.a], plan.nodes[edge.b])) outside += edge.bytes;
  }
  EXPECT_LE(outside * 4, job.bytes());
}

double Seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Boxes of a thousand sizes, of which only the last has room: to count the free places of each
// takes as long as a thousand counts of one size, of every second half as long as some ten.
TEST(TorusSearchTest, SearchesTheSizesOfASparseTorusByHalves) {
  fabric::FabricSpec spec;
  spec.torus.emplace();
  spec.torus->dimensions = {{"x", 512}, {"y", 512}};
  std::vector<fabric::NodeFacts> nodes(2);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    nodes[n].name = n == 0 ? "a" : "b";
    nodes[n].labels = {{"x", n == 0 ? "0" : "256"}, {"y", n == 0 ? "0" : "256"}};
    nodes[n].allocatable = {{"nvidia.com/gpu", 8}, {"pods", 110}};
  }
  const auto fabric = fabric::Fabric::Build(spec, std::move(nodes), {});
  ASSERT_TRUE(fabric);
  const fabric::Claims claims(*fabric);
  const Job job(1, 2);
  const Instance instance(claims, job.request, *job.graph);
  const FreePlaces places(instance, 0, NodeIndex{0}, NodeIndex{2}, 1);
  const double begin = Seconds();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(places.Best({256, 256, 1}, 1, 0).empty());
  const double counted = Seconds();
  const placement::Placement placement = placement::Place(claims, job.request, *job.graph);
  const double one = (counted - begin) / 10;
  std::cout << "as long as " << (Seconds() - counted) / one << " counts of one size\n";
  EXPECT_TRUE(std::holds_alternative<Plan>(placement));
  EXPECT_LT(Seconds() - counted, 300 * one);
}

TEST(BisectionTest, EveryPlaceIsTakenOnceAndHalvesStayTogether) {
  const testing::Cluster cluster = Torus({8, 4}, std::vector<bool>(32, true), false);
  std::vector<NodeIndex> nodes;
  for (const NodeIndex n : Range<NodeIndex>(32)) nodes.push_back(n);
  // Two groups of sixteen that send each other little.
  DigitTraffic inside{16, {}, 0}, between{2, {{0, 1, 1}}, 1};
  for (std::uint32_t v = 0; v < 16; ++v) {
    inside.pairs.push_back({v, (v + 1) % 16, 100});
    inside.bytes += 100;
  }
  const std::vector<DigitTraffic> digits = {inside, between};
  std::vector<NodeIndex> laid =
      LayByBisection(digits, *cluster.fabric->torus(), {{0, 0, 0}, {8, 4, 1}}, nodes);
  ASSERT_EQ(laid.size(), 32U);
  for (std::size_t v = 0; v < 16; ++v) EXPECT_LT(cluster.fabric->torus()->place(laid[v])[0], 4);
  std::sort(laid.begin(), laid.end());
  EXPECT_EQ(laid, nodes);
}

// On a ring of eight from place 5 on, pairs that send each other most are neighbours.
TEST(BisectionTest, CutsWhereTheFewestBytesCross) {
  const testing::Cluster cluster = Torus({8}, std::vector<bool>(8, true));
  const fabric::Torus& torus = *cluster.fabric->torus();
  std::vector<NodeIndex> nodes;
  for (const NodeIndex n : Range<NodeIndex>(8)) nodes.push_back(n);
  const DigitTraffic pairs{2, {{0, 1, 100}}, 100};
  const DigitTraffic row{4, {{0, 1, 8}, {1, 2, 8}, {2, 3, 8}}, 24};
  const auto places = [&](const std::vector<DigitTraffic>& digits) {
    std::vector<std::uint32_t> at;
    for (const NodeIndex n : LayByBisection(digits, torus, {{5, 0, 0}, {8, 1, 1}}, nodes)) {
      at.push_back(torus.place(n)[0]);
    }
    return at;
  };
  using Places = std::vector<std::uint32_t>;
  EXPECT_EQ(places({pairs, row}), (Places{5, 6, 7, 0, 1, 2, 3, 4}));
  // With the row as the fast digit the vertices of a pair are four apart.
  EXPECT_EQ(places({row, pairs}), (Places{5, 7, 1, 3, 6, 0, 2, 4}));
}

}  // namespace
}  // namespace weft::search
