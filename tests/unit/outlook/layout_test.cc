#include "operator/outlook/layout.h"

#include <gtest/gtest.h>

#include "tests/support/layouts.h"
#include "tests/support/models.h"

namespace weft::outlook {
namespace {

// GFLOP that a model needs for one trained token.
double GigaflopsPerToken(const traffic::Transformer& model) {
  Layout layout;
  layout.model = model;
  layout.model.micro_batch_size = layout.model.global_batch_size = 1;
  return ModelFlops(layout) / static_cast<double>(model.sequence_length) / 1e9;
}

traffic::Transformer DeepSeekV3() {
  traffic::Transformer model = traffic::testing::DeepSeekV3();
  model.key_value_latent_size = 512;
  return model;
}

// NVIDIA-NeMo/Megatron-Bridge, docs/performance-summary: TFLOP/s over tokens/s of one GPU.
TEST(LayoutTest, FlopsOfATokenAreThosePublished) {
  traffic::Transformer eight = traffic::testing::Llama70B();
  eight.parameters = 8'030'000'000;
  eight.layers = 32;
  eight.hidden_size = 4096;
  eight.attention_heads = 32;
  eight.feed_forward_size = 14336;
  EXPECT_NEAR(GigaflopsPerToken(eight), 51.5, 0.1);
  EXPECT_NEAR(GigaflopsPerToken(traffic::testing::Llama70B()), 449.2, 0.5);
  EXPECT_NEAR(GigaflopsPerToken(DeepSeekV3()), 249.8, 1.5);
}

TEST(LayoutTest, ExpertsAreApartFromTheRest) {
  Layout layout;
  layout.model = DeepSeekV3();
  const Sizes sizes = SizesOf(layout);
  EXPECT_DOUBLE_EQ(sizes.experts, 58.0 * 256 * 3 * 7168 * 2048);
  EXPECT_DOUBLE_EQ(sizes.active, 58.0 * 8 * 3 * 7168 * 2048);
  EXPECT_DOUBLE_EQ(sizes.expert_width, 2048);
  // 37.6e9 active parameters, the output embedding counted once.
  EXPECT_NEAR(sizes.layers + sizes.active + sizes.embedding, 36.7e9, 0.5e9);
  EXPECT_DOUBLE_EQ(sizes.query_width, 128 * 192.0);
  EXPECT_DOUBLE_EQ(sizes.value_width, 128 * 128.0);
}

TEST(LayoutTest, TheFeedForwardFollowsFromTheParameters) {
  traffic::Transformer model = traffic::testing::Llama70B();
  model.parameters = 70'553'706'496;
  model.feed_forward_size.reset();
  EXPECT_NEAR(SizesOf(testing::Spread(model, 1, 1, 1)).feed_forward, 28672, 28672 * 0.001);
}

TEST(LayoutTest, TiedEmbeddingsAreSeenWhereTheWidthIsGiven) {
  EXPECT_EQ(SizesOf(testing::Spread(testing::Gpt(12288, 96, 96), 1, 1, 1)).embeddings, 1);
  EXPECT_EQ(SizesOf(testing::Spread(traffic::testing::Llama70B(), 1, 1, 1)).embeddings, 2);
}

TEST(LayoutTest, DegreesAreWhatIsLeftOfTheWorld) {
  Layout layout = testing::Spread(traffic::testing::Llama70B(), 64, 4, 4);
  layout.parallelism.context = 2;
  layout.parallelism.sharding = traffic::Sharding::kOptimizerState;
  const Degrees d = DegreesOf(layout);
  EXPECT_EQ(d.data, 2);
  EXPECT_EQ(d.micro_batches, 256);
  EXPECT_EQ(d.tokens, 4096);
  EXPECT_EQ(d.gradient_group, 4);
  EXPECT_EQ(d.shard_group, 4);
  layout.parallelism.sharding = traffic::Sharding::kNone;
  EXPECT_EQ(DegreesOf(layout).shard_group, 1);
}

}  // namespace
}  // namespace weft::outlook
