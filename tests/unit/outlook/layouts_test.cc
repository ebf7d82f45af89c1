#include "operator/outlook/layouts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "operator/outlook/memory.h"
#include "operator/outlook/refusals.h"
#include "operator/traffic/check_shape.h"
#include "operator/traffic/traffic.h"
#include "tests/support/models.h"

namespace weft::outlook {
namespace {

using traffic::Sharding;

std::vector<Layout> AllOf(const traffic::Transformer& model, std::int64_t ranks,
                          std::int64_t per_domain = 8) {
  std::vector<Layout> all;
  for (const Layout& shape : ShapesOf(model, ranks, per_domain)) {
    for (const Layout& one : VariantsOf(shape)) all.push_back(one);
  }
  return all;
}

bool Holds(const std::vector<Layout>& all, std::int64_t tensor, std::int64_t pipeline,
           Sharding sharding) {
  return std::any_of(all.begin(), all.end(), [&](const Layout& one) {
    return one.parallelism.tensor == tensor && one.parallelism.pipeline == pipeline &&
           one.parallelism.sharding == sharding;
  });
}

// 64 experts in 60 layers.
traffic::Transformer Experts() {
  traffic::Transformer model = traffic::testing::Llama70B();
  model.layers = 60;
  model.moe = traffic::MixtureOfExperts{64, 4, 60, 2048, 0};
  return model;
}

TEST(LayoutsTest, EveryLayoutIsOneThatAJobMayHave) {
  for (const auto& model : {traffic::testing::Llama70B(), Experts()}) {
    for (const std::int64_t ranks : {8, 24, 512}) {
      for (const Layout& one : AllOf(model, ranks)) {
        traffic::Model whole;
        whole.transformer = one.model;
        const auto checked =
            traffic::CheckShape(whole, one.parallelism, static_cast<std::uint32_t>(one.ranks), 1);
        ASSERT_TRUE(checked) << checked.error().message;
        EXPECT_LE(one.parallelism.tensor, 8);
        EXPECT_TRUE(InvalidSettings(one).empty()) << InvalidSettings(one).front().Text();
      }
    }
  }
}

TEST(LayoutsTest, TheUsualOnesAreAmongThem) {
  const auto all = AllOf(traffic::testing::Llama70B(), 512);
  EXPECT_TRUE(Holds(all, 8, 4, Sharding::kOptimizerState));
  EXPECT_TRUE(Holds(all, 4, 1, Sharding::kFull));
  EXPECT_TRUE(Holds(all, 1, 1, Sharding::kHybrid));
  EXPECT_FALSE(Holds(all, 8, 4, Sharding::kFull));  // no software shards weights across stages
  const auto split = AllOf(Experts(), 512);
  EXPECT_TRUE(std::any_of(split.begin(), split.end(),
                          [](const Layout& one) { return one.parallelism.expert == 64; }));
  traffic::Transformer whole = traffic::testing::Llama70B();
  EXPECT_FALSE(Holds(AllOf(whole, 512, 72), 64, 1, Sharding::kOptimizerState));
  whole.key_value_heads = 0;  // as many as attention heads
  EXPECT_TRUE(Holds(AllOf(whole, 512, 72), 64, 1, Sharding::kOptimizerState));
}

TEST(LayoutsTest, StagesMayDifferByALayer) {
  traffic::Transformer model = traffic::testing::Llama70B();
  model.layers = 126;  // Llama 3 405B, which was trained on 16 stages
  const auto all = AllOf(model, 512);
  EXPECT_TRUE(Holds(all, 8, 16, Sharding::kOptimizerState));
  EXPECT_TRUE(Holds(all, 8, 2, Sharding::kOptimizerState));
  // With the embedding and the output counted as a layer each, 128 are divided.
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const Layout& one) {
    return one.parallelism.pipeline == 16 && one.parallelism.virtual_pipeline == 8;
  }));
  // Of 80 layers in 32 stages, some in the middle would have three.
  EXPECT_FALSE(Holds(AllOf(traffic::testing::Llama70B(), 512), 2, 32, Sharding::kOptimizerState));
}

TEST(LayoutsTest, AModelThatSoftwareRefusesHasLayoutsAllTheSame) {
  traffic::Transformer model = traffic::testing::Llama70B();
  model.hidden_size = 8191;
  const auto all = AllOf(model, 512);
  EXPECT_TRUE(Holds(all, 1, 8, Sharding::kOptimizerState));
  EXPECT_FALSE(Holds(all, 8, 8, Sharding::kOptimizerState));
}

TEST(LayoutsTest, NoneWhereTheBatchDoesNotDivide) {
  traffic::Transformer model = traffic::testing::Llama70B();
  model.global_batch_size = 7;
  EXPECT_TRUE(ShapesOf(model, 4096, 8).empty());
}

TEST(LayoutsTest, NoVariantNeedsLessMemoryThanItsShape) {
  for (const Layout& shape : ShapesOf(traffic::testing::Llama70B(), 128, 8)) {
    if (shape.parallelism.pipeline == shape.model.layers) continue;
    const double least = MemoryPerGPU(shape).Total();
    for (const Layout& one : VariantsOf(shape)) {
      EXPECT_GE(MemoryPerGPU(one).Total(), least * (1 - 1e-9));
    }
  }
}

}  // namespace
}  // namespace weft::outlook
