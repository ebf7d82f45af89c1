#include "operator/search/ring.h"

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/objective/levels.h"
#include "operator/placement/place.h"
#include "tests/support/placement_scene.h"
#include "tests/support/torus_shape.h"

namespace weft::search {
namespace {

using placement::Plan;
using testing::PlacementScene;

constexpr std::int64_t kHop = 1'000;
constexpr std::int64_t kBytes = 3'000;  // between two neighbours of the ring

// A ring of workers, one a node, on a torus of which a share of the nodes is free, by chance.
PlacementScene Scattered(const std::vector<std::uint32_t>& sizes, std::uint64_t percent,
                         std::uint32_t workers, std::uint64_t seed) {
  std::size_t places = 1;
  for (const std::uint32_t size : sizes) places *= size;
  SplitMix64 random(seed);
  std::vector<bool> free;
  for (std::size_t p = 0; p < places; ++p) free.push_back(random.Below(100) < percent);
  testing::FabricShape shape = testing::TorusOf(sizes, free);
  shape.hop_femtoseconds_per_byte = kHop;
  return {shape, workers, 8, {{traffic::Axis::kData, kBytes}}};
}

double HopsPerLeg(const PlacementScene& scene, const objective::Options& options) {
  const placement::Placement placement =
      placement::Place(scene.cluster.claims, scene.request, scene.graph, options);
  const Plan* plan = std::get_if<Plan>(&placement);
  if (plan == nullptr) return 0;
  Int128 bytes = 0;
  for (const traffic::Edge& edge : scene.graph.edges()) bytes += edge.bytes;
  return static_cast<double>(plan->cost) / static_cast<double>(bytes * kHop);
}

TEST(ShortenRings, ALargeRingOnScatteredHostsHasAFewLegsOfTwoHops) {
  for (const std::uint64_t seed : {1U, 2U}) {
    const PlacementScene scene = Scattered({8, 8, 8}, 50, 128, seed);
    objective::Options options;
    options.limits.ring_steps = 0;
    const double before = HopsPerLeg(scene, options);
    const double after = HopsPerLeg(scene, {});
    EXPECT_GE(before, 1.0);
    EXPECT_LE(after, 1.12) << "seed " << seed << ", without: " << before;
    EXPECT_LE(after, before);
  }
}

// All free hosts are used, so that only their order matters.
TEST(ShortenRings, ASmallRingIsTheShortestThereIs) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const PlacementScene scene = Scattered({4, 4}, 60, 8, seed);
    objective::Options exact;
    exact.limits.exact_steps = 300'000;
    const placement::Placement best =
        placement::Place(scene.cluster.claims, scene.request, scene.graph, exact);
    const Plan* plan = std::get_if<Plan>(&best);
    if (plan == nullptr || !plan->exact) continue;
    ++compared;
    const objective::Instance instance = scene.Prepare();
    ByWorker<fabric::NodeIndex> nodes;
    for (fabric::NodeIndex n{0}; nodes.size() < 8; ++n) {
      if (instance.slots()[n] > 0) nodes.push_back(n);
    }
    std::vector<objective::Candidate> candidates = {objective::Evaluate(instance, nodes)};
    ShortenRings(instance, 0, candidates);
    EXPECT_EQ(candidates.front().cost, plan->cost) << "seed " << seed;
  }
  EXPECT_GT(compared, 2);
}

TEST(ShortenRings, LeavesOtherTrafficAlone) {
  testing::FabricShape shape = testing::TorusOf({4, 4}, std::vector<bool>(16, true));
  traffic::Parallelism two;
  two.pipeline = 2;
  const PlacementScene scene(
      shape, 16, 8, {{traffic::Axis::kPipeline, 1'000}, {traffic::Axis::kData, 3'000}}, two);
  const objective::Instance instance = scene.Prepare();
  ByWorker<fabric::NodeIndex> nodes;
  for (std::uint32_t n = 0; n < 16; ++n) nodes.emplace_back(n * 5 % 16);
  std::vector<objective::Candidate> candidates = {objective::Evaluate(instance, nodes)};
  ShortenRings(instance, 0, candidates);
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_EQ(candidates.front().nodes, nodes);
}

}  // namespace
}  // namespace weft::search
