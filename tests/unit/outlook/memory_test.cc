#include "operator/outlook/memory.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/layouts.h"
#include "tests/support/models.h"

namespace weft::outlook {
namespace {

using traffic::GradientPrecision;
using traffic::Recomputation;
using traffic::Sharding;

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

double StateOf(const Memory& memory) {
  return memory.weights + memory.gradients + memory.optimizer;
}

// A model of so many parameters without embeddings.
Layout ZeRO(double parameters, std::int64_t ranks, Sharding sharding) {
  traffic::Transformer model = testing::Gpt(1024, 8, 8);
  model.parameters = static_cast<std::int64_t>(parameters);
  model.vocabulary_size = 0;
  model.feed_forward_size.reset();
  model.global_batch_size = ranks;
  Layout layout = testing::Spread(model, ranks, 1, 1);
  layout.parallelism.sharding = sharding;
  return layout;
}

// Rajbhandari et al., "ZeRO", 2020: figure 1 and table 1, in GB.
TEST(MemoryTest, ModelStatesAreThoseOfZeRO) {
  struct Case {
    double parameters;
    std::int64_t ranks;
    double none, optimizer, gradients, full;
  };
  for (const Case& one :
       {Case{7.5e9, 64, 120, 31.4, 16.6, 1.875}, Case{128e9, 1024, 2048, 513.5, 257.8, 2.0},
        Case{1e12, 1024, 16000, 4011.7, 2013.7, 15.6}}) {
    const auto state = [&](Sharding sharding) {
      return StateOf(MemoryPerGPU(ZeRO(one.parameters, one.ranks, sharding))) / 1e9;
    };
    EXPECT_NEAR(state(Sharding::kNone), one.none, one.none * 0.005);
    EXPECT_NEAR(state(Sharding::kOptimizerState), one.optimizer, one.optimizer * 0.005);
    EXPECT_NEAR(state(Sharding::kGradients), one.gradients, one.gradients * 0.005);
    EXPECT_NEAR(state(Sharding::kFull), one.full, one.full * 0.005);
  }
}

TEST(MemoryTest, FullyShardedWeightsWithFP32GradientsAreTheFP32Copy) {
  Layout layout = ZeRO(8e9, 8, Sharding::kFull);
  layout.model.gradient_precision = GradientPrecision::kFP32;
  const Memory memory = MemoryPerGPU(layout);
  EXPECT_DOUBLE_EQ(memory.weights, 4e9);
  EXPECT_DOUBLE_EQ(memory.gradients, 4e9);
  EXPECT_DOUBLE_EQ(memory.optimizer, 8e9);
}

// Korthikanti et al., 2022, figure 1, in GiB: parameters and optimizer with FP32 gradients, without
// the embeddings; activations without recomputation and with sequence parallelism and selective.
struct Korthikanti {
  std::int64_t hidden, layers, heads, pipeline, virtual_pipeline, micro_batch, ranks;
  double state, stored, selective;
};
const Korthikanti kFigure1[] = {
    {6144, 48, 64, 1, 1, 4, 8, 45.56, 59.25, 9.56},
    {12288, 96, 96, 8, 3, 1, 64, 45.56, 66.84, 12.35},
    {20480, 105, 128, 35, 3, 1, 280, 31.64, 114.02, 23.08},
    {25600, 128, 160, 64, 1, 1, 512, 32.96, 131.25, 26.56},
};

Layout FigureOne(const Korthikanti& one) {
  traffic::Transformer model = testing::Gpt(one.hidden, one.layers, one.heads);
  model.gradient_precision = GradientPrecision::kFP32;
  model.micro_batch_size = one.micro_batch;
  model.global_batch_size = 512 * one.micro_batch;
  Layout layout = testing::Spread(model, one.ranks, 8, one.pipeline);
  layout.parallelism.virtual_pipeline = one.virtual_pipeline;
  return layout;
}

TEST(MemoryTest, StatesAndActivationsAreThoseOfMegatron) {
  for (const Korthikanti& one : kFigure1) {
    Layout layout = FigureOne(one);
    // Embeddings, logits and biases come on top of the published figures.
    const Memory memory = MemoryPerGPU(layout);
    EXPECT_NEAR(StateOf(memory) / kGiB, one.state, one.state * 0.09) << one.hidden;
    layout.model.vocabulary_size = 0;
    layout.model.parameters = one.layers * 12 * one.hidden * one.hidden;
    const Memory bare = MemoryPerGPU(layout);
    EXPECT_NEAR(StateOf(bare) / kGiB, one.state, 0.02) << one.hidden;
    EXPECT_NEAR(bare.activations / kGiB, one.selective, 0.02) << one.hidden;
  }
}

// The paper's "none" keeps the attention matrix, and what tensor parallelism alone does not divide
// (10 s b h of 34) is divided here, since sequence parallelism is taken for granted.
TEST(MemoryTest, StoredAttentionKeepsFiveHeadsASequence) {
  for (const Korthikanti& one : kFigure1) {
    Layout layout = FigureOne(one);
    layout.model.vocabulary_size = 0;
    layout.model.parameters = one.layers * 12 * one.hidden * one.hidden;
    const double flash = MemoryPerGPU(layout).activations;
    const double stored = MemoryPerGPU(layout, Attention::kStored).activations;
    const double of34 =
        5.0 * static_cast<double>(one.heads) * 2048 / static_cast<double>(one.hidden) / 34;
    EXPECT_NEAR(stored / flash, 1 + of34, 1e-9);
    EXPECT_LT(stored / kGiB, one.stored);
    layout.model.recomputation = Recomputation::kSelective;
    EXPECT_EQ(MemoryPerGPU(layout, Attention::kStored).activations, flash);
  }
}

TEST(MemoryTest, AFullRecomputationKeepsInputsAndOneLayer) {
  traffic::Transformer model = testing::Gpt(1024, 8, 8);
  model.vocabulary_size = 0;
  model.recomputation = Recomputation::kFull;
  const double token = 2048.0 * 1024;
  EXPECT_DOUBLE_EQ(MemoryPerGPU(testing::Spread(model, 1, 1, 1)).activations, token * (8 * 2 + 34));
}

TEST(MemoryTest, AGatedModelKeepsAboutAsMuchALayer) {
  Layout layout = testing::Spread(traffic::testing::Llama70B(), 512, 8, 8);
  layout.model.vocabulary_size = 0;
  const double layer = 34.0 * 8192 * 8192 / 8;
  EXPECT_NEAR(MemoryPerGPU(layout).activations, 80 * layer, 80 * layer * 0.02);
}

TEST(MemoryTest, TheLogitsStandOnTheLastStage) {
  Layout layout = testing::Spread(traffic::testing::Llama70B(), 8, 8, 1);
  const double with = MemoryPerGPU(layout).activations;
  layout.model.vocabulary_size = 0;
  EXPECT_NEAR(with - MemoryPerGPU(layout).activations, 4.0 * 8192 * 128256 / 8, 1e6);
}

// Every layout of the table; the property holds between each and the next in its list.
std::vector<Layout> SomeLayouts() {
  std::vector<Layout> layouts;
  for (const std::int64_t tensor : {1, 2, 8}) {
    for (const std::int64_t pipeline : {1, 4}) {
      for (const bool experts : {false, true}) {
        Layout layout = testing::Spread(traffic::testing::Llama70B(), 512, tensor, pipeline);
        layout.model.global_batch_size = 4096;
        if (experts) layout.model.moe = traffic::MixtureOfExperts{16, 2, 40, 4096, 1};
        if (experts) layout.parallelism.expert = 4;
        layouts.push_back(layout);
      }
    }
  }
  return layouts;
}

TEST(MemoryTest, MoreShardingNeverNeedsMore) {
  for (Layout layout : SomeLayouts()) {
    double before = 1e99;
    for (const Sharding sharding :
         {Sharding::kNone, Sharding::kOptimizerState, Sharding::kGradients, Sharding::kFull}) {
      layout.parallelism.sharding = sharding;
      const double now = MemoryPerGPU(layout).Total();
      EXPECT_LE(now, before);
      before = now;
    }
  }
}

TEST(MemoryTest, MoreRecomputationOrSmallerBatchesNeverNeedMore) {
  for (const Layout& layout : SomeLayouts()) {
    const double before = MemoryPerGPU(layout).Total();
    Layout changed = layout;
    changed.model.recomputation = Recomputation::kSelective;
    EXPECT_LE(MemoryPerGPU(changed).Total(), before);
    changed.model.recomputation = Recomputation::kFull;
    EXPECT_LE(MemoryPerGPU(changed).Total(), before);
    changed = layout;
    changed.model.micro_batch_size = 2;
    EXPECT_GE(MemoryPerGPU(changed).Total(), before);
  }
}

TEST(MemoryTest, MoreTensorParallelismOrStagesNeverNeedMore) {
  for (const Layout& layout : SomeLayouts()) {
    const double before = MemoryPerGPU(layout).Total();
    for (const auto degree : {&traffic::Parallelism::tensor, &traffic::Parallelism::pipeline}) {
      Layout changed = layout;
      changed.parallelism.*degree *= 2;
      changed.parallelism.expert_tensor =
          layout.parallelism.expert_tensor == 0 ? layout.parallelism.tensor : 0;
      EXPECT_LE(MemoryPerGPU(changed).Total(), before * 1.0001);
    }
  }
}

}  // namespace
}  // namespace weft::outlook
