#include "operator/outlook/step.h"

#include <gtest/gtest.h>

#include "operator/outlook/constants.h"
#include "operator/outlook/machines.h"
#include "tests/support/layouts.h"
#include "tests/support/models.h"

namespace weft::outlook {
namespace {

using traffic::Axis;
using traffic::Recomputation;
using traffic::Sharding;

// The worked example of the formulas: A100 at 312 TFLOP/s and 2 TB/s, 231 GB/s between GPUs of a
// node, 21.25 GB/s between nodes; attention is stored and recomputed, gradients of two bytes travel
// after the last backward pass.
struct Example {
  std::int64_t ranks, batch, micro, hidden, heads, layers, tensor, pipeline, virtual_pipeline;
  bool full, sequence_parallel;
  double seconds;
};

Step ExampleStep(const Example& one) {
  traffic::Transformer model = testing::Gpt(one.hidden, one.layers, one.heads);
  model.parameters = one.layers * 12 * one.hidden * one.hidden + 51200 * one.hidden;
  model.micro_batch_size = one.micro;
  model.global_batch_size = one.batch;
  model.recomputation = one.full ? Recomputation::kFull : Recomputation::kSelective;
  Layout layout = testing::Spread(model, one.ranks, one.tensor, one.pipeline);
  layout.parallelism.virtual_pipeline = one.virtual_pipeline;
  Accelerator a100 = *FindAccelerator("A100-80GB");
  a100.memory_bytes_per_second = 2e12;
  Calibration calibration;
  calibration.matrix_efficiency = 0.74;
  calibration.half_width = 180;
  calibration.memory_passes = 4.2;
  calibration.attention = Attention::kStored;
  calibration.sequence_parallel = one.sequence_parallel;
  calibration.gradients_overlap = false;
  return StepOf(layout, a100, calibration, NetworkOn({8, 231e9, 21.25e9}, layout));
}

TEST(StepTest, TheWorkedExamplesComeOut) {
  const Example examples[] = {
      {64, 64, 1, 12288, 96, 96, 8, 8, 3, false, true, 13.593},
      {64, 64, 1, 12288, 96, 96, 8, 8, 3, true, false, 18.400},
      {32, 512, 16, 2304, 24, 24, 1, 1, 1, true, false, 3.282},
  };
  for (const Example& one : examples) {
    EXPECT_NEAR(ExampleStep(one).Seconds(), one.seconds, one.seconds * 0.001) << one.hidden;
  }
  // Above 1,024 ranks stragglers come on top.
  const Example large[] = {
      {1536, 2304, 1, 12288, 96, 80, 8, 8, 2, true, false, 23.447 * 1.0117},
      {3072, 3072, 1, 25600, 160, 128, 8, 64, 1, true, false, 100.940 * 1.0317},
  };
  for (const Example& one : large) {
    EXPECT_NEAR(ExampleStep(one).Seconds(), one.seconds, one.seconds * 0.001) << one.hidden;
  }
}

// 70B on 512 H100: tensor 8, pipeline 4, data 16.
Layout Dense() {
  Layout layout = testing::Spread(traffic::testing::Llama70B(), 512, 8, 4);
  layout.parallelism.sharding = Sharding::kOptimizerState;
  return layout;
}

Step OnH100(const Layout& layout, const Machines& machines = {8, 360e9, 42.5e9}) {
  const Accelerator h100 = *FindAccelerator("H100");
  return StepOf(layout, h100, CalibrationFor(h100, layout), NetworkOn(machines, layout));
}

TEST(StepTest, ThePartsAddUp) {
  const Step step = OnH100(Dense());
  EXPECT_GT(step.compute, 0);
  EXPECT_NEAR(step.matrices + step.memory + step.launch + step.optimizer, step.compute,
              step.compute * 0.01);
  EXPECT_DOUBLE_EQ(step.compute + step.bubble + step.Exposed(), step.Seconds());
  EXPECT_EQ(step.exposed[static_cast<std::size_t>(Axis::kExpert)], 0);
  EXPECT_EQ(step.exposed[static_cast<std::size_t>(Axis::kContext)], 0);
}

// (p - 1)/(v m) of what the stages do: all but gradients and optimizer.
TEST(StepTest, TheBubbleShrinksWithMicroBatchesAndVirtualStages) {
  Layout layout = Dense();
  const auto share = [](const Step& step) {
    const double gradients = step.exposed[static_cast<std::size_t>(Axis::kData)];
    return step.bubble / (step.Seconds() - step.bubble - gradients - step.optimizer);
  };
  const Step plain = OnH100(layout);
  EXPECT_NEAR(share(plain), 3.0 / 32, 0.005);
  layout.parallelism.virtual_pipeline = 5;
  EXPECT_NEAR(share(OnH100(layout)), 3.0 / 32 / 5, 0.005);
  layout.parallelism.virtual_pipeline = 1;
  layout.model.global_batch_size = 64;
  EXPECT_NEAR(share(OnH100(layout)), 3.0 / 4, 0.05);
  EXPECT_EQ(BoundBy(plain), "compute");
}

TEST(StepTest, ASlowerNetworkNeverMakesAStepShorter) {
  for (const Sharding sharding :
       {Sharding::kNone, Sharding::kOptimizerState, Sharding::kGradients, Sharding::kFull}) {
    Layout layout = Dense();
    layout.parallelism.sharding = sharding;
    layout.parallelism.context = 2;
    double before = 0;
    for (const double out : {50e9, 25e9, 12.5e9, 3e9, 1e9}) {
      const double now = OnH100(layout, {8, 360e9, out}).Seconds();
      EXPECT_GE(now, before);
      before = now;
    }
    EXPECT_GE(OnH100(layout, {8, 60e9, 42.5e9}).Seconds(), OnH100(layout).Seconds());
  }
}

TEST(StepTest, ATensorGroupOverTwoNodesIsWhatBoundsTheStep) {
  Layout layout = Dense();
  const double inside = OnH100(layout).Seconds();
  const Step split = OnH100(layout, {4, 360e9, 3e9});
  EXPECT_GT(split.Seconds(), 1.5 * inside);
  EXPECT_EQ(BoundBy(split), "Tensor communication");
}

TEST(StepTest, FullRecomputationCostsAboutAThirdMoreComputing) {
  Layout layout = Dense();
  const double before = OnH100(layout).compute;
  layout.model.recomputation = Recomputation::kFull;
  EXPECT_NEAR(OnH100(layout).compute / before, 4.0 / 3, 0.04);
}

TEST(StepTest, ShardedWeightsShowOnTheirAxis) {
  Layout layout = testing::Spread(traffic::testing::Llama70B(), 64, 1, 1);
  layout.model.global_batch_size = 64;
  layout.parallelism.sharding = Sharding::kFull;
  const Step step = OnH100(layout);
  EXPECT_GT(step.exposed[static_cast<std::size_t>(Axis::kSharding)], 0);
  EXPECT_EQ(step.exposed[static_cast<std::size_t>(Axis::kData)], 0);
}

// NVIDIA-NeMo/Megatron-Bridge: GPT-OSS 120B ran 1.71 times as fast on B200 (8 to a domain) with
// experts over 8 GPUs as over 64, and as fast on NVL72.
TEST(StepTest, ExpertsOverSeveralNodesCostWhatWasMeasured) {
  Layout layout;
  layout.model = testing::Gpt(2880, 36, 64);
  layout.model.parameters = 116'800'000'000;
  layout.model.gated_feed_forward = true;
  layout.model.feed_forward_size.reset();
  layout.model.vocabulary_size = 201088;
  layout.model.sequence_length = 4096;
  layout.model.key_value_heads = 8;
  layout.model.micro_batch_size = 4;
  layout.model.global_batch_size = 1280;
  layout.model.moe = traffic::MixtureOfExperts{128, 4, 36, 2880, 0};
  layout.ranks = 64;
  layout.parallelism.sharding = Sharding::kOptimizerState;
  const Accelerator b200 = *FindAccelerator("B200");
  const auto seconds = [&](std::int64_t expert, double domain) {
    layout.parallelism.expert = expert;
    const Machines machines = {domain, 720e9, 42.5e9};
    return StepOf(layout, b200, CalibrationFor(b200, layout), NetworkOn(machines, layout))
        .Seconds();
  };
  EXPECT_NEAR(seconds(64, 8) / seconds(8, 8), 1.71, 0.25);
  EXPECT_NEAR(seconds(64, 64) / seconds(8, 64), 1.0, 0.15);
}

// A layer and the output embedding of 2 x 1,024 tokens on one GPU, or two.
Step SmallStep(const Calibration& calibration, std::int64_t tensor, std::int64_t vocabulary) {
  traffic::Transformer model = testing::Gpt(1024, 1, 16);
  model.sequence_length = 1024;
  model.vocabulary_size = vocabulary;
  model.micro_batch_size = model.global_batch_size = 2;
  const Layout layout = testing::Spread(model, tensor, tensor, 1);
  return StepOf(layout, *FindAccelerator("A100-80GB"), calibration,
                NetworkOn({8, 240e9, 21.25e9}, layout));
}

TEST(StepTest, SlowLaunchesLengthenALayerAndTheOutputEmbedding) {
  Calibration calibration = FindCalibration("A100 BF16, Megatron");
  const Step fast = SmallStep(calibration, 1, 51200);
  EXPECT_EQ(fast.launch, 0);
  calibration.launch_seconds = 1;  // three passes of the layer, and as many of the embedding
  EXPECT_NEAR(SmallStep(calibration, 1, 51200).compute, 6 + fast.optimizer, 1e-3);
  calibration.launch_seconds = 1e-6;  // hidden behind kernels of a millisecond
  EXPECT_NEAR(SmallStep(calibration, 1, 51200).compute, fast.compute, 1e-7);
}

TEST(StepTest, AnUnpaddedVocabularyCostsOnlySoftwareThatDoesNotPad) {
  Calibration calibration = FindCalibration("A100 BF16, Megatron");
  const auto matrices = [&](std::int64_t tensor, std::int64_t vocabulary) {
    return SmallStep(calibration, tensor, vocabulary).matrices;
  };
  const double padded = matrices(1, 50256);
  EXPECT_NEAR(matrices(1, 50257) / padded, 1, 0.001);
  calibration.unaligned_share = 0.25;
  EXPECT_EQ(matrices(1, 50256), padded);
  EXPECT_GT(matrices(1, 50257) / padded, 3);
  EXPECT_EQ(matrices(2, 50257), matrices(2, 50256));  // 25,128 values each
}

TEST(StepTest, EachTensorCollectiveAndEachStepHasAStart) {
  Calibration calibration = FindCalibration("A100 BF16, Megatron");
  const double one = SmallStep(calibration, 1, 51200).Seconds();
  const double two = SmallStep(calibration, 2, 51200).Seconds();
  calibration.tensor_start_seconds = 0.25;
  EXPECT_EQ(SmallStep(calibration, 1, 51200).Seconds(), one);
  EXPECT_NEAR(SmallStep(calibration, 2, 51200).Seconds(), two + 0.25, 1e-9);
  calibration.step_seconds = kStepOverheadSeconds + 1;
  EXPECT_NEAR(SmallStep(calibration, 1, 51200).Seconds(), one + 1, 1e-9);
}

}  // namespace
}  // namespace weft::outlook
