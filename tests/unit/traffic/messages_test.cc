#include "operator/traffic/messages.h"

#include <gtest/gtest.h>

#include <string>

#include "operator/traffic/traffic.h"
#include "tests/support/models.h"

namespace weft::traffic {
namespace {

using testing::Llama70B;

struct Case {
  const char* name;
  Model model;
  Parallelism parallelism;
  const char* want;  // "Tensor 12 Data 3", by family
};

class MessagesTest : public ::testing::TestWithParam<Case> {};

TEST_P(MessagesTest, CountsThoseThatFollowEachOther) {
  const auto traffic = ComputeTraffic(GetParam().model, GetParam().parallelism, 64, 1);
  ASSERT_TRUE(traffic) << traffic.error().message;
  std::string text;
  for (const GroupFamily& family : traffic->families) {
    text += (text.empty() ? "" : " ") + std::string(AxisName(family.axis)) + " " +
            std::to_string(family.messages);
  }
  EXPECT_EQ(text, GetParam().want);
}

Parallelism Degrees(std::int64_t tensor, std::int64_t context, std::int64_t pipeline,
                    Sharding sharding = Sharding::kNone) {
  Parallelism p;
  p.tensor = tensor;
  p.context = context;
  p.pipeline = pipeline;
  p.sharding = sharding;
  if (sharding == Sharding::kHybrid) p.shard_group_size = 8;
  return p;
}

Model Full() {
  Transformer model = Llama70B();
  model.recomputation = Recomputation::kFull;
  return {model, {}};
}

Model Experts() {
  Transformer model = Llama70B();
  model.moe = MixtureOfExperts{};
  model.moe->experts = 8;
  model.moe->top_k = 2;
  model.moe->layers = 40;
  return {model, {}};
}

Parallelism FourByEight() {
  Parallelism p = Degrees(2, 1, 1);
  p.expert = 8;
  p.expert_tensor = 2;
  return p;
}

// Llama 3 70B: 80 layers, 512 sequences a step in micro-batches of one.
const Case kCases[] = {
    {"AllReducesOfEveryLayerAndMicroBatch",
     {Llama70B(), {}},
     Degrees(4, 2, 4, Sharding::kOptimizerState),
     "Tensor 122880 Context 15360 Data 6 Pipeline 512"},
    {"FullRecomputationRunsTheForwardAgain", Full(), Degrees(4, 2, 4),
     "Tensor 184320 Context 20480 Data 6 Pipeline 512"},
    {"GradientsAreScatteredEveryMicroBatch",
     {Llama70B(), {}},
     Degrees(1, 1, 1, Sharding::kGradients),
     "Data 567"},
    {"FullShardingGathersEveryLayer",
     {Llama70B(), {}},
     Degrees(1, 1, 1, Sharding::kFull),
     "Sharding 120960"},
    {"HybridGathersInsideAndReducesAcross",
     {Llama70B(), {}},
     Degrees(1, 1, 1, Sharding::kHybrid),
     "Data 14 Sharding 13440"},
    {"ExpertsSendAtOnceToAllPeers", Experts(), FourByEight(),
     "Tensor 10240 Data 62 Expert 2560 ExpertTensor 2560 Data 6"},
    {"AMeasuredFigureIsOneCollective",
     {std::nullopt, {{Axis::kData, 1000}, {Axis::kPipeline, 1000}}},
     Degrees(1, 1, 4),
     "Data 15 Pipeline 1"},
};
INSTANTIATE_TEST_SUITE_P(Jobs, MessagesTest, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace weft::traffic
