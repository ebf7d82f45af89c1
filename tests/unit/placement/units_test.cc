#include "operator/placement/units.h"

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

// A ring of 4 in each unit, 1000 bytes a GPU each way of the ring.
TEST(Units, ARingIsCutTwice) {
  traffic::Parallelism shape;
  shape.tensor = 4;
  const auto graph = GraphOf(shape, {{traffic::Axis::kTensor, 1000}}, 8);
  const UnitTraffic traffic = MeasureUnits(graph, MakeUnits(Shape{4, 2}, Shape{4, 1}, 8));
  EXPECT_EQ(traffic.least_cut, 2000);
  EXPECT_EQ(traffic.each_pair, 0);
  EXPECT_TRUE(traffic.between.empty());
}

// Each of 4 sends 900 bytes to 3 others: 600 a pair, and three pairs hold a worker.
TEST(Units, ACliqueIsCutAroundOneWorker) {
  traffic::Parallelism shape;
  shape.expert = 4;
  shape.expert_tensor = 1;
  const auto graph = GraphOf(shape, {{traffic::Axis::kExpert, 900}}, 8);
  const UnitTraffic traffic = MeasureUnits(graph, MakeUnits(Shape{8}, Shape{4}, 8));
  EXPECT_EQ(traffic.each_pair, 600);
  EXPECT_EQ(traffic.least_cut, 1800);
}

TEST(Units, BetweenThemTheRingOverAllCrosses) {
  const auto graph = GraphOf({}, {{traffic::Axis::kData, 1000}}, 8);
  const UnitTraffic traffic = MeasureUnits(graph, MakeUnits(Shape{8}, Shape{4}, 8));
  ASSERT_EQ(traffic.between.size(), 1U);
  EXPECT_EQ(traffic.between.front().bytes, 2000);
}

}  // namespace
}  // namespace weft::placement
