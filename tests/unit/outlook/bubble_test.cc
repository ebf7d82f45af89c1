#include "operator/outlook/bubble.h"

#include <gtest/gtest.h>

#include "operator/outlook/constants.h"
#include "operator/outlook/memory.h"
#include "operator/outlook/refusals.h"
#include "tests/support/layouts.h"
#include "tests/support/models.h"

namespace weft::outlook {
namespace {

// Llama 70B with tensor 8, so many stages and micro-batches, on ranks that one pipeline fills.
Layout Piped(std::int64_t stages, std::int64_t micro_batches) {
  traffic::Transformer model = traffic::testing::Llama70B();
  model.global_batch_size = micro_batches;
  return testing::Spread(model, 8 * stages, 8, stages);
}

// An accelerator that just holds the layout.
Accelerator Holding(const Layout& layout) {
  Accelerator one;
  one.memory_bytes = (MemoryPerGPU(layout).Total() + 1) / kUsableMemory;
  return one;
}

TEST(BubbleTest, TheIdleShareIsThatOfSC21) {
  EXPECT_DOUBLE_EQ(IdleShare(Piped(1, 4)), 0);
  EXPECT_DOUBLE_EQ(IdleShare(Piped(8, 8)), 7.0 / 15);
  Layout layout = Piped(8, 8);
  layout.parallelism.virtual_pipeline = 2;
  EXPECT_DOUBLE_EQ(IdleShare(layout), 7.0 / 23);
}

TEST(BubbleTest, TheFewestVirtualStagesThatHalveIt) {
  const auto change = LessIdleOf(Piped(4, 16));  // 3 of 19
  ASSERT_TRUE(change);
  EXPECT_EQ(change->text, "virtualPipeline: 4");  // 2 make it 3 of 35, more than half
  EXPECT_DOUBLE_EQ(change->share, 3.0 / 67);
  EXPECT_TRUE(change->halves);
  EXPECT_FALSE(change->several);
}

TEST(BubbleTest, VirtualStagesOnlyWhereTheMicroBatchesDivide) {
  Layout layout = Piped(8, 12);  // 7 of 19
  layout.model.micro_batch_size = 1;
  const auto change = LessIdleOf(layout);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->text, "globalBatchSize: 31");  // 7 of 38
  EXPECT_TRUE(change->halves);
}

TEST(BubbleTest, TheBatchGrowsByWholeRoundsOfVirtualStages) {
  Layout layout = Piped(8, 4);
  layout.parallelism.virtual_pipeline = 10;  // 7 of 47
  const auto change = LessIdleOf(layout);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->text, "globalBatchSize: 16");
}

TEST(BubbleTest, ASmallerMicroBatchWhereTheLayersDoNotDivide) {
  Layout layout = Piped(8, 8);
  layout.model.layers = 81;
  layout.model.micro_batch_size = 4;
  layout.model.global_batch_size = 32;
  const auto change = LessIdleOf(layout);  // 7 of 15
  ASSERT_TRUE(change);
  EXPECT_EQ(change->text, "microBatchSize: 1");
  EXPECT_DOUBLE_EQ(change->share, 7.0 / 39);
}

TEST(BubbleTest, FewerStagesWithMoreTensorParallelism) {
  Layout layout = Piped(8, 12);
  layout.parallelism.tensor = 1;
  layout.ranks = 8;
  const auto change = LessIdleOf(layout);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->text, "pipeline: 2 and tensor: 4");
  EXPECT_TRUE(change->several);
  EXPECT_DOUBLE_EQ(change->share, 1.0 / 13);
}

TEST(BubbleTest, TwoSettingsWhereOneWillNotDo) {
  Layout layout = Piped(16, 16);  // 15 of 31; virtual stages: at most 5
  layout.model.layers = 32;       // at most 2
  layout.model.micro_batch_size = 2;
  layout.model.global_batch_size = 32;
  const Accelerator full = Holding(layout);  // too full for fewer stages
  const auto change = LessIdleOf(layout, &full);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->text, "virtualPipeline: 2 and microBatchSize: 1");
  EXPECT_TRUE(change->halves);
}

TEST(BubbleTest, TheBestWhereNothingHalvesIt) {
  Layout layout = Piped(64, 1);  // 63 of 64
  layout.model.layers = 64;
  layout.parallelism.tensor = 8;
  const auto change = LessIdleOf(layout);
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->halves);
  EXPECT_EQ(change->text, "globalBatchSize: 4");  // 63 of 67
}

TEST(BubbleTest, EveryChangeIsOneThatTrainingSoftwareAccepts) {
  for (const std::int64_t stages : {2, 4, 5, 8, 10, 16}) {
    for (const std::int64_t batches : {1, 3, 8, 12, 40}) {
      const auto change = LessIdleOf(Piped(stages, batches));
      if (!change || change->text.find("virtualPipeline") == std::string::npos) continue;
      EXPECT_TRUE(batches % stages == 0 || change->several) << stages << " " << batches;
    }
  }
}

TEST(BubbleTest, AdvisesOnlyChangesThatKeepTheJobInMemory) {
  const Layout layout = Piped(8, 16);
  const Accelerator full = Holding(layout);
  const auto with = LessIdleOf(layout, &full), without = LessIdleOf(layout);
  ASSERT_TRUE(with && without);
  EXPECT_EQ(without->text, "virtualPipeline: 5");  // needs more activations
  EXPECT_EQ(with->text, "globalBatchSize: 39");    // 7 of 46
}

}  // namespace
}  // namespace weft::outlook
