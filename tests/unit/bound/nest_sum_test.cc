#include "operator/bound/nest_sum.h"

#include <limits>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "tests/support/fabric_builder.h"

namespace weft::bound {
namespace {

using fabric::NodeIndex;
using objective::Instance;
using weft::testing::Cluster;
using weft::testing::Leaves;
using weft::testing::MakeCluster;

constexpr std::uint32_t kWorkers = 9;
constexpr double kRounding = 1e-6;

// Leaves of nodes with a few slots, and an instance on them.
struct Scene {
  explicit Scene(const std::vector<std::vector<int>>& free)
      : cluster(MakeCluster(Leaves(free))), graph(MakeTraffic()) {
    request.job = "test/job";
    request.workers = kWorkers;
    request.pod.requests = {{"nvidia.com/gpu", 1}};
    request.grid = {kWorkers};
  }
  static traffic::Traffic MakeTraffic() {
    return *traffic::ComputeTraffic(traffic::Model{std::nullopt, {{traffic::Axis::kData, 1000}}},
                                    {}, kWorkers, 1);
  }

  Cluster cluster;
  traffic::WorkerGraph graph;
  objective::Request request;
};

// What leaves sets of each size, up and down as where groups fit or not.
std::vector<double> RandomLeaving(SplitMix64& random, std::uint32_t most) {
  std::vector<double> leaving = {0};
  while (leaving.size() <= most) leaving.push_back(static_cast<double>(random.Below(100)));
  return leaving;
}

// The least over all ways to fill the nodes, one node after the other.
double Least(const Scene& scene, std::span<const Level> nest,
             const std::vector<std::vector<double>>& leaving, std::uint32_t node,
             std::vector<std::vector<std::uint32_t>>& held, std::uint32_t left) {
  const auto count = static_cast<std::uint32_t>(scene.cluster.fabric->node_count());
  if (node == count) {
    if (left > 0) return std::numeric_limits<double>::infinity();
    double sum = 0;
    for (std::size_t l = 0; l < nest.size(); ++l) {
      for (const std::uint32_t units : held[l]) {
        sum += leaving[l][units] * static_cast<double>(nest[l].step) / 2;
      }
    }
    return sum;
  }
  const Instance instance(scene.cluster.claims, scene.request, scene.graph);
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t k = 0; k <= std::min(left, instance.slots()[NodeIndex{node}]); ++k) {
    for (std::size_t l = 0; l < nest.size(); ++l) held[l][nest[l].Of(NodeIndex{node}).Raw()] += k;
    least = std::min(least, Least(scene, nest, leaving, node + 1, held, left - k));
    for (std::size_t l = 0; l < nest.size(); ++l) held[l][nest[l].Of(NodeIndex{node}).Raw()] -= k;
  }
  return least;
}

TEST(NestSum, IsTheLeastOverAllWaysToFillTheDomains) {
  SplitMix64 random(3);
  const std::vector<std::vector<int>> rooms[] = {
      {{2, 3}, {4}, {3, 1}}, {{3, 3}, {3, 3}}, {{1, 1, 1}, {2, 5}, {4}}, {{8, 1}, {2}}};
  for (const auto& free : rooms) {
    const Scene scene(free);
    const Instance instance(scene.cluster.claims, scene.request, scene.graph);
    const Nest nest = NestOfLevels(instance);
    const bound::Run run = {NodeIndex{0}, instance.slots().EndIndex()};
    NestSum sum =
        NestSum::Of(instance, nest, run, std::vector<std::uint32_t>(nest.size(), 1)).value();
    for (int i = 0; i < 5; ++i) {
      std::vector<std::vector<double>> leaving;
      NestSum::Leaving by_level;
      std::vector<std::vector<std::uint32_t>> held;
      for (const Level& level : nest) {
        leaving.push_back(RandomLeaving(random, kWorkers));
        held.emplace_back(level.domains, 0);
      }
      for (const auto& of_level : leaving) by_level.push_back(&of_level);
      const double least = Least(scene, nest, leaving, 0, held, kWorkers);
      EXPECT_NEAR(sum.Least(by_level, 1'000'000, true), least, kRounding * least);
      double used = 0;  // a cheapest choice costs as much
      for (std::size_t l = 0; l < nest.size(); ++l) {
        const std::vector<double> sets = sum.Used(l);
        ASSERT_EQ(sets.size(), sum.Most(l) + 1);
        for (std::size_t k = 0; k < sets.size(); ++k) {
          used += sets[k] * leaving[l][k] * static_cast<double>(nest[l].step) / 2;
        }
      }
      EXPECT_NEAR(used, least, kRounding * least);
      EXPECT_LE(sum.Least(by_level, 0), least * (1 + kRounding));  // hulls
    }
  }
}

TEST(NestSum, CountsWholeUnits) {
  const Scene scene({{4, 2}, {5}, {1, 2, 1}});
  const Instance instance(scene.cluster.claims, scene.request, scene.graph);
  const Nest levels = NestOfLevels(instance);
  const std::span<const Level> nest = std::span(levels).first(2);  // nodes and leaves
  const bound::Run run = {NodeIndex{0}, instance.slots().EndIndex()};
  const std::vector<double> nothing(kWorkers + 1, 0), units = {0, 10, 16, 0};
  // Leaves with room for 6, 5 and 4 workers hold 2, 1 and 1 units of 3.
  NestSum sum = NestSum::Of(instance, nest, run, {1, 3}).value();
  const double step = static_cast<double>(nest[1].step) / 2;
  EXPECT_DOUBLE_EQ(sum.Least({&nothing, &units}, 1000), (16 + 10) * step);
  // Their nodes hold one unit or none.
  EXPECT_FALSE(NestSum::Of(instance, nest, run, {3, 3}));
}

TEST(NestSum, HasNoRoomForUnitsThatAreLargerThanEveryDomain) {
  const Scene scene({{2}, {1, 1}});
  const Instance instance(scene.cluster.claims, scene.request, scene.graph);
  const Nest levels = NestOfLevels(instance);
  EXPECT_FALSE(
      NestSum::Of(instance, std::span(levels).first(2), {NodeIndex{0}, NodeIndex{3}}, {1, 3}));
}

TEST(NestSum, SumsHullsWhereExactSumsTakeTooManyAdditions) {
  const std::vector<std::vector<int>> one_leaf = {{6, 6}};
  const Scene scene(one_leaf);
  const Instance instance(scene.cluster.claims, scene.request, scene.graph);
  const Nest levels = NestOfLevels(instance);
  const std::span<const Level> nodes = std::span(levels).first(1);
  NestSum sum = NestSum::Of(instance, nodes, {NodeIndex{0}, NodeIndex{2}}, {1}).value();
  const double step = static_cast<double>(nodes[0].step) / 2;
  // Of nine workers one node holds six, which leave nothing, and the other three. The hull has
  // nothing leave either. Two tables of seven entries: 7 additions for the first, 7 x 7 for both.
  const std::vector<double> leaving = {0, 10, 10, 10, 10, 10, 0};
  EXPECT_DOUBLE_EQ(sum.Least({&leaving}, 7 + 7 * 7), 10 * step);
  EXPECT_GE(sum.steps(), 7U + 7 * 7);
  EXPECT_LT(sum.steps(), 1000U);  // with the hulls, a few for each entry
  EXPECT_DOUBLE_EQ(sum.Least({&leaving}, 7 + 7 * 7 - 1), 0);
}

}  // namespace
}  // namespace weft::bound
