#include "operator/traffic/check_shape.h"
#include "gtest/gtest.h"
#include "operator/base/units.h"
#include "operator/traffic/traffic.h"
#include "tests/support/models.h"

namespace weft::traffic {
namespace {

using testing::Degrees;
using testing::Small;
using testing::SmallExperts;

struct Job {
  std::optional<Model> model = Model{Small(), {}};
  Parallelism shape = Degrees(2, 1, 2);
  std::uint32_t workers = 8;
  std::uint32_t per_worker = 1;
};

struct Case {
  const char* name;
  void (*change)(Job&);
  const char* error;  // how it starts; empty: fine
};

constexpr Case kCases[] = {
    {"a world that divides", [](Job&) {}, ""},
    {"a world that does not divide", [](Job& j) { j.workers = 6; },
     "parallelism: tensor x context x pipeline = 4 must divide the world of 6 ranks"},
    {"fewer ranks than degrees", [](Job& j) { j.workers = 2; }, "parallelism: tensor"},
    {"no worker", [](Job& j) { j.workers = 0; }, "workers.replicas: the world of 0 ranks"},
    {"a world past 31 bits", [](Job& j) { j.workers = j.per_worker = 65536; },
     "workers.replicas: the world of 4294967296 ranks is out of range"},
    {"the largest world",
     [](Job& j) {
       j.workers = 16384;
       j.per_worker = 256;
       j.model.reset();
     },
     ""},
    {"a degree of zero", [](Job& j) { j.shape.context = 0; }, "parallelism.context: must be"},
    {"a degree above 2^20", [](Job& j) { j.shape.pipeline = (1 << 20) + 1; },
     "parallelism.pipeline: must be between 1 and 1048576, is 1048577"},
    {"a negative expertTensor", [](Job& j) { j.shape.expert_tensor = -1; },
     "parallelism.expertTensor: must be"},
    {"degrees whose product passes 2^32",
     [](Job& j) { j.shape = Degrees(1 << 20, 1 << 20, 1 << 20); }, "parallelism: tensor"},
    {"an axis twice in rankOrder", [](Job& j) { j.shape.rank_order[0] = Axis::kData; },
     "parallelism.rankOrder: must name"},
    {"an axis of experts in rankOrder", [](Job& j) { j.shape.rank_order[0] = Axis::kExpert; },
     "parallelism.rankOrder: must name"},
    {"micro-batches that do not divide", [](Job& j) { j.model->transformer->micro_batch_size = 3; },
     "model.transformer.globalBatchSize: 8 must be a multiple"},
    {"less than one micro-batch", [](Job& j) { j.model->transformer->global_batch_size = 1; },
     "model.transformer.globalBatchSize: 1 must be a multiple"},
    {"batches whose product passes 2^63",
     [](Job& j) {
       j.model->transformer->micro_batch_size = kSaturated;
       j.model->transformer->global_batch_size = kSaturated;
     },
     "model.transformer.globalBatchSize: "},
    {"a model without heads", [](Job& j) { j.model->transformer->attention_heads = 0; },
     "model.transformer.attentionHeads: must be at least 1, is 0"},
    {"a negative size of experts",
     [](Job& j) {
       j.model->transformer = SmallExperts();
       j.model->transformer->moe->feed_forward_size = -1;
     },
     "model.transformer.moe.feedForwardSize: must be at least 0, is -1"},
    {"negative measured bytes",
     [](Job& j) {
       j.model = Model{std::nullopt, {{Axis::kData, -1}}};
     },
     "model.measured.Data.bytesPerGPU: must not be negative"},
    {"experts without moe", [](Job& j) { j.shape.expert = 2; },
     "parallelism.expert: is 2, but model.transformer has no moe"},
    {"experts without any model",
     [](Job& j) {
       j.shape.expert = 2;
       j.model.reset();
     },
     ""},
    {"experts that do not divide the stage",
     [](Job& j) {
       j.shape.expert = 3;
       j.model->transformer = SmallExperts();
     },
     "parallelism.expert: expert x expertTensor = 6 must divide the 4 ranks"},
    {"an expertTensor that nothing needs", [](Job& j) { j.shape.expert_tensor = 3; }, ""},
    {"an expertTensor that a measured figure needs",
     [](Job& j) {
       j.shape.expert_tensor = 3;
       j.model = Model{std::nullopt, {{Axis::kExpertTensor, 1}}};
     },
     "parallelism.expertTensor: 3 must divide the 4 ranks"},
    {"Hybrid without a size", [](Job& j) { j.shape.sharding = Sharding::kHybrid; },
     "parallelism.shardGroupSize: is required with sharding Hybrid"},
    {"a size without Hybrid", [](Job& j) { j.shape.shard_group_size = 2; },
     "parallelism.shardGroupSize: is only for sharding Hybrid"},
    {"shards that do not divide the gradient group",
     [](Job& j) {
       j.shape.sharding = Sharding::kHybrid;
       j.shape.shard_group_size = 3;
     },
     "parallelism.shardGroupSize: 3 must divide the gradient group of 2 ranks"},
    {"shards that do not divide the experts' group",
     [](Job& j) {
       j.shape = Degrees(1, 1, 1);
       j.shape.sharding = Sharding::kHybrid;
       j.shape.shard_group_size = 4;
       j.shape.expert = 4;
       j.model->transformer = SmallExperts();
     },
     "parallelism.shardGroupSize: 4 must divide the 2 ranks that hold the same experts"},
};

TEST(CheckShape, NamesTheFieldThatDoesNotFit) {
  for (const Case& c : kCases) {
    Job job;
    c.change(job);
    const Status status = CheckShape(job.model, job.shape, job.workers, job.per_worker);
    const std::string error = status ? "" : status.error().message;
    const std::string want = c.error;
    EXPECT_EQ(want.empty() ? error : error.substr(0, want.size()), want) << c.name;
    EXPECT_TRUE(status || status.error().kind == ErrorKind::kInvalid) << c.name;
    if (job.workers <= 8) {
      EXPECT_EQ(ComputeTraffic(job.model, job.shape, job.workers, job.per_worker).has_value(),
                want.empty())
          << c.name;
    }
  }
}

}  // namespace
}  // namespace weft::traffic
