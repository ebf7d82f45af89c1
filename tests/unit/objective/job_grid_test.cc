#include "operator/objective/job_grid.h"

#include "gtest/gtest.h"
#include "operator/traffic/traffic.h"
#include "operator/traffic/worker_grid.h"
#include "tests/support/models.h"

namespace weft::objective {
namespace {

using traffic::Axis;

struct Job {
  traffic::Parallelism shape;
  std::vector<traffic::MeasuredAxis> bytes;
  std::uint32_t workers = 0, per_worker = 1;
};

JobGrid GridOf(const Job& job) {
  const auto traffic = traffic::ComputeTraffic(traffic::Model{std::nullopt, job.bytes}, job.shape,
                                               job.workers, job.per_worker);
  return JobGrid(traffic::WorkerGraph(*traffic),
                 traffic::WorkerGrid(job.shape, job.workers, job.per_worker));
}

Shape SizesOf(const JobGrid& grid) { return {grid.sizes().begin(), grid.sizes().end()}; }

// 64 workers of one GPU, experts in groups of 8, and one ring over all.
Job Experts() {
  Job job;
  job.shape.expert = 8;
  job.shape.expert_tensor = 1;
  job.bytes = {{Axis::kExpert, 8'000'000}, {Axis::kData, 1'000}};
  job.workers = 64;
  return job;
}

// Shards travel in rings of 8 workers, gradients between workers that are 8 apart.
TEST(JobGrid, SplitsTheDigitThatHoldsTwoAxes) {
  traffic::Parallelism shape;
  shape.sharding = traffic::Sharding::kHybrid;
  shape.shard_group_size = 8;
  const auto traffic =
      traffic::ComputeTraffic(traffic::Model{traffic::testing::Llama70B(), {}}, shape, 64, 1);
  ASSERT_TRUE(traffic);
  const JobGrid grid(traffic::WorkerGraph(*traffic), traffic::WorkerGrid(shape, 64, 1));
  EXPECT_EQ(SizesOf(grid), (Shape{8, 8}));
}

TEST(JobGrid, WithoutAGridIsOneRowOfWorkers) {
  const auto row = [](std::uint32_t workers) {
    const auto traffic = traffic::ComputeTraffic(std::nullopt, {}, workers, 1);
    return SizesOf(JobGrid(traffic::WorkerGraph(*traffic), {}));
  };
  EXPECT_EQ(row(1), Shape{});
  EXPECT_EQ(row(2), Shape{2});
  EXPECT_EQ(row(6), Shape{6});
}

TEST(JobGrid, AnExpertGroupIsANaturalTile) {
  EXPECT_EQ(GridOf(Experts()).NaturalTiles(), std::vector<Shape>{Shape{8}});
}

TEST(JobGrid, APieceOfARingIsNoNaturalTile) {
  Job job;
  job.bytes = {{Axis::kData, 1'000}};
  job.workers = 64;
  EXPECT_EQ(SizesOf(GridOf(job)), Shape{64});
  EXPECT_TRUE(GridOf(job).NaturalTiles().empty());
}

TEST(JobGrid, TheBestTileCutsTheFewestBytes) {
  Job job;
  job.shape.tensor = 4;
  job.bytes = {{Axis::kTensor, 1'000'000}, {Axis::kData, 1'000}};
  job.workers = 32;
  const JobGrid grid = GridOf(job);
  const Shape ones(2, 1), all = {4, 8};
  EXPECT_EQ(grid.BestTile(ones, all, 8), (Shape{4, 2}));
  EXPECT_EQ(grid.BestTile(ones, all, 3), (Shape{2, 1}));
  EXPECT_EQ(grid.BestTile(Shape({1, 2}), all, 4), (Shape{2, 2}));
}

}  // namespace
}  // namespace weft::objective
