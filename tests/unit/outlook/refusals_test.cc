#include "operator/outlook/refusals.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/layouts.h"
#include "tests/support/models.h"

namespace weft::outlook {
namespace {

using traffic::Sharding;

// Llama 70B on 512 ranks in 8 stages, as training software accepts it.
Layout Accepted() {
  Layout layout = testing::Spread(traffic::testing::Llama70B(), 512, 8, 8);
  layout.parallelism.sharding = Sharding::kOptimizerState;
  return layout;
}

struct RefusalCase {
  const char* name;
  std::function<void(Layout&)> change;
  std::vector<std::string> refusals;
};

class RefusalsTest : public ::testing::TestWithParam<RefusalCase> {};

TEST_P(RefusalsTest, NamesTheFieldBothNumbersAndWhoRefuses) {
  Layout layout = Accepted();
  GetParam().change(layout);
  std::vector<std::string> texts;
  for (const InvalidSetting& one : InvalidSettings(layout)) texts.push_back(one.Text());
  EXPECT_EQ(texts, GetParam().refusals);
  EXPECT_EQ(BrokenRules(layout) == 0, texts.empty());
}

const RefusalCase kCases[] = {
    {"NothingToSay", [](Layout&) {}, {}},
    {"TensorAndHeads",
     [](Layout& l) { l.model.attention_heads = 60, l.model.key_value_heads = 0; },
     {"spec.parallelism.tensor: 8 does not divide attentionHeads 60; Megatron-LM refuses it",
      "spec.model.transformer.attentionHeads: 60 does not divide hiddenSize 8192; Megatron-LM "
      "refuses it"}},
    {"TensorAndKeyValueHeads",
     [](Layout& l) { l.model.key_value_heads = 7; },
     {"spec.parallelism.tensor: 8 does not divide keyValueHeads 7; Megatron-LM refuses it",
      "spec.model.transformer.keyValueHeads: 7 does not divide attentionHeads 64; Megatron-LM "
      "refuses it"}},
    {"HiddenSizeAndHeads",
     [](Layout& l) { l.model.hidden_size = 8191, l.parallelism.tensor = 1, l.ranks = 64; },
     {"spec.model.transformer.attentionHeads: 64 does not divide hiddenSize 8191; Megatron-LM "
      "refuses it"}},
    {"FeedForwardSizeAndTensor",
     [](Layout& l) { l.model.feed_forward_size = 28671; },
     {"spec.parallelism.tensor: 8 does not divide feedForwardSize 28671; Megatron-LM refuses it"}},
    {"SequenceAndContext",
     [](Layout& l) {
       l.model.sequence_length = 4097, l.parallelism.context = 2, l.parallelism.tensor = 1;
     },
     {"spec.parallelism.context: 2 x context = 4 does not divide sequenceLength 4097; Megatron-LM "
      "refuses it"}},
    {"SequenceAndTensor",
     [](Layout& l) { l.model.sequence_length = 4097; },
     {"spec.parallelism.tensor: 8 does not divide sequenceLength / context 4097; Megatron-LM "
      "refuses it"}},
    {"StagesThatDifferInTheMiddle",
     [](Layout& l) { l.parallelism.tensor = 2, l.parallelism.pipeline = 32; },
     {"spec.parallelism.pipeline: 32 does not divide layers 80, not even with fewer layers in the "
      "first and the last stage; Megatron-LM refuses it"}},
    {"FewerLayersAtBothEnds",  // Llama 3 405B
     [](Layout& l) { l.model.layers = 126, l.parallelism.pipeline = 16; },
     {}},
    {"FewerLayersAtBothEndsWithVirtualStages",
     [](Layout& l) {
       l.model.layers = 126, l.parallelism.pipeline = 16, l.parallelism.virtual_pipeline = 2;
       l.model.global_batch_size = 64;
     },
     {}},
    {"VirtualStages",
     [](Layout& l) { l.parallelism.virtual_pipeline = 3; },
     {"spec.parallelism.virtualPipeline: pipeline x virtualPipeline = 24 does not divide layers "
      "80; Megatron-LM refuses it"}},
    {"VirtualStagesAndMicroBatches",
     [](Layout& l) { l.parallelism.virtual_pipeline = 2, l.model.global_batch_size = 96; },
     {"spec.parallelism.virtualPipeline: pipeline = 8 does not divide the number of micro-batches "
      "in a step, 12; Megatron-LM refuses it"}},
    {"VirtualStagesOfNoPipeline",
     [](Layout& l) { l.parallelism.pipeline = 1, l.parallelism.virtual_pipeline = 2; },
     {"spec.parallelism.virtualPipeline: 2 needs more than one pipeline stage, and pipeline is 1; "
      "Megatron-LM refuses it"}},
    {"WeightsShardedAcrossStages",
     [](Layout& l) { l.parallelism.sharding = Sharding::kFull; },
     {"spec.parallelism.sharding: weights are sharded across 8 pipeline stages; Megatron-LM "
      "(FSDP2) and DeepSpeed (ZeRO-3) refuse it"}},
    {"GradientsShardedAcrossStages",
     [](Layout& l) { l.parallelism.sharding = Sharding::kGradients; },
     {"spec.parallelism.sharding: gradients are sharded across 8 pipeline stages; DeepSpeed "
      "(ZeRO-2) refuses it"}},
    {"ExpertsAndTheirRanks",
     [](Layout& l) {
       l.model.moe = traffic::MixtureOfExperts{60, 64, 81, 2047, 0};
       l.parallelism.expert = 8, l.parallelism.expert_tensor = 2;
     },
     {"spec.model.transformer.moe.topK: 64 is more than moe.experts 60; Megatron-LM refuses it",
      "spec.model.transformer.moe.layers: 81 is more than layers 80; Megatron-LM refuses it",
      "spec.parallelism.expert: 8 does not divide moe.experts 60; Megatron-LM refuses it",
      "spec.parallelism.expertTensor: 2 does not divide moe.feedForwardSize 2047; Megatron-LM "
      "refuses it"}},
    {"LatentHeadsHaveASizeOfTheirOwn",
     [](Layout& l) {
       l.model.attention_heads = 96, l.model.key_value_heads = 0;
       l.model.key_value_latent_size = 512;
     },
     {}},
};
INSTANTIATE_TEST_SUITE_P(Rules, RefusalsTest, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Refusals, SeparatesRulesOfTheModelFromRulesOfTheLayout) {
  Layout layout = Accepted();
  EXPECT_EQ(BrokenByModel(layout.model), 0u);
  layout.model.hidden_size = 8191;
  EXPECT_NE(BrokenByModel(layout.model), 0u);
  EXPECT_NE(BrokenRules(layout) & ~BrokenByModel(layout.model), 0u);  // tensor 8
}

std::string DoubtAbout(const traffic::Transformer& model) {
  const auto doubt = UnlikelyParameters(model);
  return doubt ? doubt->Text() : "";
}

TEST(Refusals, ParametersThatContradictTheSizesAreSaid) {
  traffic::Transformer model = traffic::testing::Llama70B();
  EXPECT_EQ(DoubtAbout(model), "");
  for (const auto& [parameters, doubted] : {std::pair<std::int64_t, bool>{7, true},
                                            {7'000'000'000, true},
                                            {40'000'000'000, false},
                                            {140'000'000'000, false},
                                            {200'000'000'000, true}}) {
    model.parameters = parameters;
    EXPECT_EQ(!DoubtAbout(model).empty(), doubted) << parameters;
  }
  model.parameters = 7'000'000'000;
  EXPECT_EQ(DoubtAbout(model),
            "spec.model.transformer.parameters: 7000000000, but layers 80, hiddenSize 8192 and the "
            "other sizes make about 69.5 billion");
  model.feed_forward_size.reset();  // 8/3 hidden is assumed
  EXPECT_NE(DoubtAbout(model), "");
  EXPECT_EQ(DoubtAbout(testing::Gpt(12288, 96, 96)), "");
  EXPECT_EQ(DoubtAbout(traffic::testing::DeepSeekV3()), "");
}

TEST(Refusals, ExpertsOfUnknownWidthMayHoldAnyNumberOfParameters) {
  traffic::Transformer model = traffic::testing::DeepSeekV3();
  model.moe->feed_forward_size.reset();
  model.parameters = 10'000'000'000'000;
  EXPECT_EQ(DoubtAbout(model), "");
  model.parameters = 1'000'000'000;
  EXPECT_NE(DoubtAbout(model), "");
}

}  // namespace
}  // namespace weft::outlook
