#include "operator/outlook/change.h"

#include <gtest/gtest.h>

#include "operator/outlook/constants.h"
#include "operator/outlook/memory.h"
#include "tests/support/layouts.h"
#include "tests/support/models.h"

namespace weft::outlook {
namespace {

constexpr double kH100 = 80.4e9;

// An accelerator on which training can use so much memory.
Accelerator With(double capacity) {
  Accelerator one;
  one.memory_bytes = capacity / kUsableMemory;
  return one;
}

TEST(ChangeTest, ProposesNoChangeForALayoutThatFits) {
  Layout layout = testing::Spread(traffic::testing::Llama70B(), 64, 8, 4);
  layout.parallelism.sharding = traffic::Sharding::kFull;
  ASSERT_LE(MemoryPerGPU(layout).Total(), kH100);
  EXPECT_FALSE(SmallestChange(layout, With(kH100)));
}

TEST(ChangeTest, TheOptimizersStateIsShardedFirst) {
  Layout layout = testing::Spread(traffic::testing::Llama70B(), 512, 8, 4);
  layout.model.recomputation = traffic::Recomputation::kFull;
  const auto change = SmallestChange(layout, With(40e9));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->text, "sharding: OptimizerState");
  EXPECT_LE(change->total, 40e9);
}

TEST(ChangeTest, ASmallerMicroBatchWhereActivationsAreWhatIsTooMuch) {
  Layout layout = testing::Spread(traffic::testing::Llama70B(), 512, 8, 8);
  layout.parallelism.sharding = traffic::Sharding::kOptimizerState;
  layout.model.micro_batch_size = 4;
  const auto change = SmallestChange(layout, With(kH100));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->text, "microBatchSize: 2");
}

TEST(ChangeTest, TwoSettingsWhereOneWillNotDo) {
  Layout layout = testing::Spread(traffic::testing::Llama70B(), 512, 8, 4);
  layout.model.micro_batch_size = 4;
  const auto change = SmallestChange(layout, With(45e9));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->text, "sharding: OptimizerState and microBatchSize: 1");
}

TEST(ChangeTest, ThreeSettingsWhereTwoWillNotDo) {
  // 500 billion parameters without any sharding on 1,184 GPUs: 9 TB of state on each.
  traffic::Transformer model = traffic::testing::Llama70B();
  model.parameters = 500'000'000'000;
  model.layers = 96;
  model.hidden_size = 20480;
  model.attention_heads = 160;
  model.feed_forward_size.reset();
  model.global_batch_size = 1184;
  const Layout layout = testing::Spread(model, 1184, 1, 1);
  EXPECT_GT(MemoryPerGPU(layout).Total(), 8e12);
  const auto change = SmallestChange(layout, With(kH100));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->text, "activationRecomputation: Full, sharding: Full and tensor: 2");
  EXPECT_LE(change->total, kH100);
}

TEST(ChangeTest, SixteenBitGradientsWhereNothingElseHelps) {
  // 500 billion parameters in tensor 8 and pipeline 4, neither of which can grow on 1,184 GPUs.
  traffic::Transformer model = traffic::testing::Llama70B();
  model.parameters = 500'000'000'000;
  model.layers = 96;
  model.hidden_size = 20480;
  model.attention_heads = 160;
  model.feed_forward_size.reset();
  model.global_batch_size = 1184;
  const auto change = SmallestChange(testing::Spread(model, 1184, 8, 4), With(kH100));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->text,
            "sharding: OptimizerState, activationRecomputation: Full and gradientPrecision: BF16");
}

TEST(ChangeTest, NoneThatTrainingSoftwareRefuses) {
  // With a pipeline no software shards weights.
  traffic::Transformer model = traffic::testing::Llama70B();
  Layout layout = testing::Spread(model, 512, 8, 8);
  for (const double capacity : {10e9, 12e9, 15e9, 20e9, 30e9}) {
    const auto change = SmallestChange(layout, With(capacity));
    if (!change) continue;
    EXPECT_EQ(change->text.find("sharding: Full"), std::string::npos) << change->text;
    EXPECT_EQ(change->text.find("sharding: Gradients"), std::string::npos) << change->text;
  }
  // Ten heads are no multiple of four or eight.
  model.attention_heads = 10;
  model.key_value_heads = 0;
  model.hidden_size = 10240;
  layout = testing::Spread(model, 512, 1, 1);
  layout.parallelism.sharding = traffic::Sharding::kFull;
  layout.model.recomputation = traffic::Recomputation::kFull;
  for (double capacity = 4e9; capacity < 40e9; capacity += 2e9) {
    const auto change = SmallestChange(layout, With(capacity));
    if (!change) continue;
    EXPECT_EQ(change->text.find("tensor: 8"), std::string::npos) << change->text;
    EXPECT_EQ(change->text.find("tensor: 4"), std::string::npos) << change->text;
  }
}

TEST(ChangeTest, NoneWhereTheGPUsAreTooFew) {
  EXPECT_FALSE(SmallestChange(testing::Spread(traffic::testing::Llama70B(), 2, 1, 1), With(kH100)));
}

}  // namespace
}  // namespace weft::outlook
