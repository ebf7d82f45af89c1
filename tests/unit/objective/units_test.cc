#include "operator/objective/units.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/raw_of.h"

namespace weft::objective {
namespace {

traffic::WorkerGraph GraphOf(const traffic::Parallelism& shape,
                             std::vector<traffic::MeasuredAxis> bytes, std::uint32_t workers) {
  const auto traffic =
      traffic::ComputeTraffic(traffic::Model{std::nullopt, std::move(bytes)}, shape, workers, 1);
  return traffic::WorkerGraph(*traffic);
}

TEST(Units, AreBoxesOfTheGrid) {
  const Units units = MakeUnits(Shape{4, 2}, Shape{2, 2}, 8);
  EXPECT_EQ(units.size, 4U);
  EXPECT_EQ(units.grid, (Shape{2, 1}));
  EXPECT_EQ(testing::RawOf(units.of), (std::vector<std::uint32_t>{0, 0, 1, 1, 0, 0, 1, 1}));
}

TEST(Units, BetweenThemTheRingOverAllCrosses) {
  const auto graph = GraphOf({}, {{traffic::Axis::kData, 1000}}, 8);
  const Units units = MakeUnits(Shape{8}, Shape{4}, 8);
  const auto between = TrafficBetween(graph, units.of, units.EndIndex());
  ASSERT_EQ(between.size(), 1U);
  EXPECT_EQ(between.front().bytes, 2000);
}

// Experts in groups of 16, each of whose pairs exchanges 2 x 100 bytes, and a ring over all 32.
TEST(Units, BetweenThemEveryPairOfExpertsCrosses) {
  traffic::Parallelism shape;
  shape.expert = 16;
  const auto graph =
      GraphOf(shape, {{traffic::Axis::kExpert, 15 * 100}, {traffic::Axis::kData, 1000}}, 32);
  ASSERT_EQ(graph.cliques().size(), 2U);
  const Units units = MakeUnits(Shape{32}, Shape{8}, 32);
  std::vector<std::string> text;
  for (const UnitEdge& edge : TrafficBetween(graph, units.of, units.EndIndex())) {
    text.push_back(std::to_string(edge.a.Raw()) + "-" + std::to_string(edge.b.Raw()) + ": " +
                   std::to_string(edge.bytes));
  }
  EXPECT_EQ(text, (std::vector<std::string>{"0-1: 13800", "0-3: 1000", "1-2: 1000", "2-3: 13800"}));
}

}  // namespace
}  // namespace weft::objective
