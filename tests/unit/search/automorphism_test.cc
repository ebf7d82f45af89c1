#include "operator/search/automorphism.h"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <vector>

#include "operator/search/exact_board.h"
#include "tests/support/fabric_builder.h"

namespace weft::search {
namespace {

using Orbit = std::vector<std::uint32_t>;

// A job of single-GPU workers with one axis, and the orbits of the workers in index order.
struct Job {
  Job(traffic::Axis axis, std::uint32_t workers)
      : cluster(testing::MakeCluster(testing::Leaves({{8, 8}}))) {
    traffic::Parallelism shape;
    if (axis == traffic::Axis::kPipeline) shape.pipeline = workers;
    if (axis == traffic::Axis::kExpert) {
      shape.expert = workers;
      shape.expert_tensor = 1;
    }
    graph.emplace(
        *traffic::ComputeTraffic(traffic::Model{std::nullopt, {{axis, 1000}}}, shape, workers, 1));
    request.job = "test/job";
    request.workers = workers;
    request.pod.requests = {{"nvidia.com/gpu", 1}};
  }

  Orbit OrbitOf(std::size_t depth) const {
    const objective::Instance instance(cluster.claims, request, *graph);
    std::vector<WorkerIndex> order(request.workers);
    std::iota(order.begin(), order.end(), WorkerIndex{0});
    const std::vector<std::int64_t> bytes = BytesBetween(*graph);
    Automorphisms automorphisms(instance, bytes, order);
    const auto orbit = automorphisms.Orbit(depth);
    return {orbit.begin(), orbit.end()};
  }

  testing::Cluster cluster;
  std::optional<traffic::WorkerGraph> graph;
  objective::Request request;
};

TEST(Automorphisms, OfARingTurnItAndThenMirrorIt) {
  const Job ring(traffic::Axis::kData, 5);
  EXPECT_EQ(ring.OrbitOf(0), (Orbit{1, 2, 3, 4}));
  EXPECT_EQ(ring.OrbitOf(1), (Orbit{4}));
  EXPECT_EQ(ring.OrbitOf(2), Orbit{});
}

TEST(Automorphisms, OfStagesInALineSwapTheEnds) {
  const Job line(traffic::Axis::kPipeline, 4);
  EXPECT_EQ(line.OrbitOf(0), (Orbit{3}));
  EXPECT_EQ(line.OrbitOf(1), Orbit{});
}

TEST(Automorphisms, OfExpertsAreAllPermutations) {
  const Job experts(traffic::Axis::kExpert, 4);
  EXPECT_EQ(experts.OrbitOf(0), (Orbit{1, 2, 3}));
  EXPECT_EQ(experts.OrbitOf(2), (Orbit{3}));
}

TEST(Automorphisms, KeepGroupsTogether) {
  Job experts(traffic::Axis::kExpert, 4);
  objective::GroupConstraint group;
  group.sets.workers = {WorkerIndex{0}, WorkerIndex{1}, WorkerIndex{2}};
  group.sets.begin = {0, 3};
  group.preferred = fabric::Tier{1};
  experts.request.groups = {group};
  EXPECT_EQ(experts.OrbitOf(0), (Orbit{1, 2}));
  EXPECT_EQ(experts.OrbitOf(3), Orbit{});
}

}  // namespace
}  // namespace weft::search
