#include "operator/objective/units.h"

#include "gtest/gtest.h"

namespace weft::placement {
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
  EXPECT_EQ(units.of, (std::vector<std::uint32_t>{0, 0, 1, 1, 0, 0, 1, 1}));
}

TEST(Units, BetweenThemTheRingOverAllCrosses) {
  const auto graph = GraphOf({}, {{traffic::Axis::kData, 1000}}, 8);
  const Units units = MakeUnits(Shape{8}, Shape{4}, 8);
  const auto between = TrafficBetween(graph, units.of, units.count());
  ASSERT_EQ(between.size(), 1U);
  EXPECT_EQ(between.front().bytes, 2000);
}

}  // namespace
}  // namespace weft::placement
