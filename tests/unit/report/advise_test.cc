#include "operator/report/advise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "operator/report/lifts.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"

namespace weft::report {
namespace {

using testing::Scene;
using Json = nlohmann::json;

// Four leaves of eight nodes of eight GPUs.
testing::FabricShape Fleet(const char* product) {
  testing::FabricShape shape = testing::Leaves({{8, 8, 8, 8, 8, 8, 8, 8},
                                                {8, 8, 8, 8, 8, 8, 8, 8},
                                                {8, 8, 8, 8, 8, 8, 8, 8},
                                                {8, 8, 8, 8, 8, 8, 8, 8}});
  for (auto& node : shape.nodes) node.labels["nvidia.com/gpu.product"] = product;
  return shape;
}

constexpr const char* kH100 = "NVIDIA-H100-80GB-HBM3";

// Llama-3 8B on so many nodes, as a manifest has it too.
api::TrainingJob& Llama8B(testing::Scene& scene, const std::string& name, std::uint32_t nodes) {
  api::TrainingJob& job = scene.Job(name, nodes);
  traffic::Transformer model = traffic::testing::Llama70B();
  model.parameters = 8'030'000'000;
  model.layers = 32;
  model.hidden_size = 4096;
  model.attention_heads = 32;
  model.feed_forward_size = 14336;
  job.model = traffic::Model{model, {}};
  job.raw = std::make_shared<const Json>(Json::parse(R"({
      "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
      "metadata": {"name": "llama", "namespace": "ns", "uid": "u", "labels": {"team": "a"}},
      "spec": {"accelerator": {"perWorker": 8}, "parallelism": {"tensor": 2, "pipeline": 2},
               "model": {"type": "Transformer", "transformer": {
                   "parameters": 8030000000, "layers": 32, "hiddenSize": 4096,
                   "attentionHeads": 32, "sequenceLength": 8192, "microBatchSize": 1,
                   "globalBatchSize": 512}},
               "workers": {"replicas": 2, "template": {"spec": {"containers": [
                   {"name": "t", "image": "i", "env": [{"name": "A", "value": "b"}],
                    "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}},
      "status": {"phase": "Pending"}})"));
  return job;
}

Advice AdviceOf(const cluster::Cluster& cluster, const AdviceRequest& request = {}) {
  const auto advice = Advise(cluster, request);
  EXPECT_TRUE(advice) << advice.error().message;
  return advice ? *advice : Advice();
}

std::string Why(const cluster::Cluster& cluster, const AdviceRequest& request = {}) {
  const auto advice = Advise(cluster, request);
  return advice ? "" : advice.error().message;
}

std::vector<std::int64_t> Counts(const Advice& advice) {
  std::vector<std::int64_t> counts;
  for (const AdvisedLayout& row : advice.layouts) counts.push_back(row.layout.ranks);
  return counts;
}

TEST(AdviseTest, TheFastestLayoutsThatFitComeFirst) {
  testing::Scene scene(Fleet(kH100));
  Llama8B(scene, "llama", 8);
  const Advice advice = AdviceOf(scene.Build());
  ASSERT_EQ(advice.layouts.size(), 10u);
  EXPECT_GT(advice.tried, 100);
  EXPECT_LT(advice.fitting, advice.tried);
  double before = 0;
  const outlook::Prediction& first = advice.layouts.front().prediction;
  for (const AdvisedLayout& row : advice.layouts) {
    EXPECT_EQ(row.layout.ranks, 64);
    EXPECT_EQ(row.nodes, 8);
    EXPECT_TRUE(row.prediction.fits);
    const double seconds = row.prediction.step.Seconds();
    EXPECT_LE(first.step.Seconds(), seconds * (1 + kEquallyFast) * (1 + 1e-12));
    if (seconds <= first.step.Seconds()) {
      EXPECT_LE(first.memory.Total(), row.prediction.memory.Total());
    }
    if (&row == &advice.layouts.front()) continue;
    EXPECT_GE(seconds, before);
    before = seconds;
  }
}

TEST(AdviseTest, TheJobAsItIsWrittenIsPredictedToo) {
  testing::Scene scene(Fleet(kH100));
  api::TrainingJob& job = Llama8B(scene, "llama", 8);
  job.parallelism.tensor = 4;
  job.model->transformer->recomputation = traffic::Recomputation::kFull;
  AdviceRequest request;
  request.least = request.most = 128;
  const Advice advice = AdviceOf(scene.Build(), request);
  ASSERT_TRUE(advice.as_written);
  EXPECT_EQ(advice.as_written->layout.ranks, 64);  // the job's own number
  EXPECT_EQ(advice.as_written->layout.parallelism.tensor, 4);
  EXPECT_GT(advice.as_written->prediction.step.Seconds(), 0);
  EXPECT_TRUE(AdviceJson(advice).contains("asWritten"));
}

TEST(AdviseTest, EachNumberOfGpusHasItsBestLayout) {
  testing::Scene scene(Fleet(kH100));
  Llama8B(scene, "llama", 8);
  AdviceRequest request;
  request.least = 8;
  request.most = 200;
  const Advice advice = AdviceOf(scene.Build(), request);
  EXPECT_EQ(Counts(advice), (std::vector<std::int64_t>{128, 64, 32, 16, 8}));
}

TEST(AdviseTest, EachProductHasItsBestLayout) {
  testing::FabricShape shape = Fleet(kH100);
  for (std::size_t n = 0; n < 8; ++n) {
    shape.nodes[n].labels["nvidia.com/gpu.product"] = "NVIDIA-B200";
  }
  testing::Scene scene(shape);
  Llama8B(scene, "llama", 4);
  const Advice advice = AdviceOf(scene.Build());
  ASSERT_EQ(advice.layouts.size(), 2u);
  EXPECT_EQ(advice.layouts[0].accelerator, "B200");
  EXPECT_EQ(advice.layouts[1].accelerator, "H100");
}

TEST(AdviseTest, TokensGiveDaysAndPricesGiveCost) {
  testing::Scene scene(Fleet(kH100));
  Llama8B(scene, "llama", 8);
  outlook::Prices prices;
  prices.currency = "USD";
  prices.prices = {{"H100", 3.0, std::nullopt, std::nullopt, ""}};
  AdviceRequest request;
  request.least = 8;
  request.most = 256;
  request.tokens = 1e12;
  request.prices = &prices;
  const Advice all = AdviceOf(scene.Build(), request);
  ASSERT_FALSE(all.layouts.empty());
  const AdvisedLayout& fastest = all.layouts.front();
  ASSERT_TRUE(fastest.days && fastest.cost && fastest.cost_per_hour);
  EXPECT_NEAR(*fastest.cost_per_hour, 3.0 * static_cast<double>(fastest.layout.ranks), 1e-6);
  EXPECT_NEAR(*fastest.days * 86400 * fastest.prediction.tokens_per_second *
                  fastest.reliability.effective_share,
              1e12, 1e6);
  EXPECT_NEAR(*fastest.cost, *fastest.days * 24 * *fastest.cost_per_hour, 1e-6);

  request.deadline_days = *all.layouts[1].days * 1.01;
  const Advice in_time = AdviceOf(scene.Build(), request);
  ASSERT_EQ(in_time.layouts.size(), 2u);  // the two fastest, the cheaper one first
  EXPECT_LE(*in_time.layouts[0].cost, *in_time.layouts[1].cost);
}

// Prices of H100, on demand for 3 and spot for 1.
outlook::Prices SpotPrices() {
  outlook::Prices prices;
  prices.currency = "USD";
  prices.prices = {{"H100", 3.0, std::nullopt, 1.0, ""}};
  return prices;
}

TEST(AdviseTest, OnSpotNodesInterruptionsTakeTime) {
  const outlook::Prices prices = SpotPrices();
  AdviceRequest request;
  request.tokens = 1e12;
  request.prices = &prices;
  const auto first = [&](bool spot) {
    testing::FabricShape shape = Fleet(kH100);
    if (spot) {
      for (auto& node : shape.nodes) node.labels["karpenter.sh/capacity-type"] = "spot";
    }
    testing::Scene scene(shape);
    Llama8B(scene, "llama", 8);
    return AdviceOf(scene.Build(), request).layouts.at(0);
  };
  const AdvisedLayout demand = first(false), spot = first(true);
  EXPECT_EQ(demand.spot_nodes, 0);
  EXPECT_EQ(spot.spot_nodes, 8);
  EXPECT_GT(*spot.days, 1.02 * *demand.days);
  EXPECT_DOUBLE_EQ(*spot.cost_per_hour * 3, *demand.cost_per_hour);
  EXPECT_DOUBLE_EQ(*spot.cost, *spot.days * 24 * *spot.cost_per_hour);
  EXPECT_DOUBLE_EQ(*spot.days * spot.reliability.effective_share,
                   *demand.days * demand.reliability.effective_share);
}

TEST(AdviseTest, WhyNoLayoutIsLeftIsSaid) {
  testing::Scene scene(Fleet(kH100));
  Llama8B(scene, "llama", 8);
  const cluster::Cluster cluster = scene.Build();
  const auto why = [&](std::int64_t gpus) {
    AdviceRequest request;
    request.least = request.most = gpus;
    const Advice advice = AdviceOf(cluster, request);
    EXPECT_TRUE(advice.layouts.empty());
    return advice.why_none;
  };
  EXPECT_EQ(why(7),
            "A worker of the job has 8 accelerators, so that their number must be a multiple of "
            "8.");
  EXPECT_EQ(why(512),
            "The nodes that the job may use have 256 accelerators, and 512 are asked for.");
  EXPECT_EQ(why(48),
            "Of 48 accelerators, tensor x context x pipeline (powers of two, or a divisor of the "
            "32 layers as pipeline) leave no number that divides globalBatchSize 512.");
}

TEST(AdviseTest, WithoutALayoutInTimeOrBudgetTheFastestAndTheCheapestAreNamed) {
  testing::Scene scene(Fleet(kH100));
  Llama8B(scene, "llama", 8);
  const outlook::Prices prices = SpotPrices();
  AdviceRequest request;
  request.tokens = 1e12;
  request.prices = &prices;
  request.least = 64;
  request.most = 128;
  const Advice all = AdviceOf(scene.Build(), request);
  ASSERT_EQ(all.layouts.size(), 2u);
  request.budget = 0.01;
  const Advice none = AdviceOf(scene.Build(), request);
  EXPECT_TRUE(none.layouts.empty());
  EXPECT_EQ(none.why_none.rfind("Of the layouts that fit, the fastest takes ", 0), 0u)
      << none.why_none;
  EXPECT_NE(none.why_none.find(" days on 128 x H100, and the cheapest costs "), std::string::npos)
      << none.why_none;
  EXPECT_NE(none.why_none.find(" USD on 64 x H100."), std::string::npos) << none.why_none;
  EXPECT_TRUE(AdviceJson(none).contains("whyNone"));
}

TEST(AdviseTest, APrecisionThatNoAcceleratorHasIsAnError) {
  testing::Scene scene(Fleet(kH100));
  Llama8B(scene, "llama", 8).model->transformer->precision = traffic::Precision::kNVFP4;
  EXPECT_EQ(Why(scene.Build()),
            "jobs.yaml: TrainingJob ns/llama: spec.model.transformer.precision: H100 has no unit "
            "for NVFP4, only for FP32, TF32, FP16, BF16, FP8 and MXFP8");
}

TEST(AdviseTest, NotesRulesThatTheModelBreaks) {
  testing::Scene scene(Fleet(kH100));
  Llama8B(scene, "llama", 8).model->transformer->key_value_heads = 7;
  const Advice advice = AdviceOf(scene.Build());
  EXPECT_FALSE(advice.layouts.empty());
  ASSERT_EQ(advice.notes.size(), 1u);
  EXPECT_EQ(advice.notes[0].text,
            "spec.model.transformer.keyValueHeads: 7 does not divide attentionHeads 32; "
            "Megatron-LM refuses it.");
}

TEST(AdviseTest, SortsLiftsByGain) {
  testing::Scene scene(Fleet(kH100));
  api::TrainingJob& job = Llama8B(scene, "llama", 32);
  // So small a step that what each step costs once shows.
  job.model->transformer->global_batch_size = 256;
  job.model->transformer->sequence_length = 1024;
  const Advice advice = AdviceOf(scene.Build());
  ASSERT_FALSE(advice.lifts.empty());
  EXPECT_TRUE(std::is_sorted(advice.lifts.begin(), advice.lifts.end(),
                             [](const Lift& a, const Lift& b) { return a.gain > b.gain; }));
  EXPECT_TRUE(std::any_of(advice.lifts.begin(), advice.lifts.end(), [](const Lift& lift) {
    return lift.change == "a globalBatchSize of 512";
  }));
}

TEST(AdviseTest, TheJobToApplyHasTheLayoutAndAllElseOfItsOwn) {
  testing::Scene scene(Fleet(kH100));
  Llama8B(scene, "llama", 8);
  const cluster::Cluster cluster = scene.Build();
  AdviceRequest request;
  request.least = request.most = 128;
  const Advice advice = AdviceOf(cluster, request);
  ASSERT_FALSE(advice.layouts.empty());
  const AdvisedLayout& best = advice.layouts.front();
  const Json object = AdvisedJob(cluster, advice, best);
  EXPECT_FALSE(object.contains("status"));
  EXPECT_FALSE(object["metadata"].contains("uid"));
  EXPECT_EQ(object["metadata"]["labels"]["team"], "a");
  EXPECT_EQ(object["spec"]["workers"]["template"]["spec"]["containers"][0]["env"][0]["value"], "b");
  const auto job = api::DecodeTrainingJob(object, "advice");
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->replicas, 16u);
  EXPECT_EQ(job->parallelism.tensor, best.layout.parallelism.tensor);
  EXPECT_EQ(job->parallelism.pipeline, best.layout.parallelism.pipeline);
  EXPECT_EQ(job->parallelism.sharding, best.layout.parallelism.sharding);
  EXPECT_EQ(job->model->transformer->micro_batch_size, best.layout.model.micro_batch_size);
  EXPECT_EQ(job->model->transformer->recomputation, best.layout.model.recomputation);
}

// Llama-3 8B without workers, as Reading::kModel makes it.
api::TrainingJob& BareLlama8B(testing::Scene& scene, const std::string& name) {
  api::TrainingJob& job = Llama8B(scene, name, 0);
  job.accelerator.per_worker = 0;
  job.pod.requests.clear();
  Json raw = *job.raw;
  raw["spec"].erase("workers");
  raw["spec"].erase("accelerator");
  raw["spec"]["model"]["transformer"].erase("microBatchSize");
  job.raw = std::make_shared<const Json>(raw);
  return job;
}

TEST(AdviseTest, ABareModelNeedsANumberOfAccelerators) {
  testing::Scene scene(Fleet(kH100));
  BareLlama8B(scene, "llama");
  EXPECT_EQ(Why(scene.Build()),
            "jobs.yaml: TrainingJob ns/llama: spec.workers: is required without --gpus: give the "
            "job's workers, or with --gpus the number of accelerators to try, such as 8..1024");
}

TEST(AdviseTest, AnUnknownFabricIsNamed) {
  testing::Scene scene(Fleet(kH100));
  BareLlama8B(scene, "llama").fabric_name = "north";
  AdviceRequest request;
  request.least = request.most = 8;
  EXPECT_EQ(Why(scene.Build(), request),
            "jobs.yaml: TrainingJob ns/llama: spec.fabricName: unknown Fabric \"north\"; known: "
            "default");
}

TEST(AdviseTest, ABareModelTakesAPartOfANodeOrWholeNodes) {
  testing::Scene scene(Fleet(kH100));
  // So little memory for each token that one accelerator is enough.
  traffic::Transformer& model = *BareLlama8B(scene, "llama").model->transformer;
  model.parameters = 500'000'000;
  model.layers = 8;
  model.hidden_size = 1024;
  model.attention_heads = 16;
  model.key_value_heads = 8;
  model.feed_forward_size = 4096;
  AdviceRequest request;
  request.least = 1;
  request.most = 70;
  const Advice advice = AdviceOf(scene.Build(), request);
  EXPECT_EQ(Counts(advice), (std::vector<std::int64_t>{64, 32, 16, 8, 4, 2, 1}));
  for (const AdvisedLayout& row : advice.layouts) {
    EXPECT_EQ(row.per_worker, std::min<std::int64_t>(row.layout.ranks, 8));
    EXPECT_EQ(row.nodes, std::max<std::int64_t>(row.layout.ranks / 8, 1));
  }
  EXPECT_FALSE(advice.as_written);
  request.least = request.most = 12;
  EXPECT_EQ(AdviceOf(scene.Build(), request).why_none,
            "A node has 8 accelerators, so that their number must be below 8 or a multiple of 8.");
}

TEST(AdviseTest, TheWorkersOfABareModelAreAsLargeAsMostNodes) {
  testing::FabricShape shape = testing::Leaves({{8, 8, 8}, {8, 8, 8}});
  for (auto& node : shape.nodes) node.labels["nvidia.com/gpu.product"] = kH100;
  for (const std::size_t n : {0, 1, 2, 5}) shape.nodes[n].accelerators = 4;
  testing::Scene scene(shape);
  BareLlama8B(scene, "llama");
  AdviceRequest request;
  request.least = request.most = 32;
  const Advice advice = AdviceOf(scene.Build(), request);
  ASSERT_FALSE(advice.layouts.empty());
  EXPECT_EQ(advice.layouts[0].per_worker, 4u);
  EXPECT_EQ(advice.layouts[0].nodes, 6);  // a node of eight has room for two workers
}

TEST(AdviseTest, TheJobOfABareModelIsComplete) {
  testing::Scene scene(Fleet(kH100));
  BareLlama8B(scene, "llama");
  const cluster::Cluster cluster = scene.Build();
  AdviceRequest request;
  for (const std::int64_t gpus : {4, 64}) {
    request.least = request.most = gpus;
    const Advice advice = AdviceOf(cluster, request);
    ASSERT_FALSE(advice.layouts.empty());
    EXPECT_TRUE(advice.no_template);
    const Json object = AdvisedJob(cluster, advice, advice.layouts.front());
    const auto job = api::DecodeTrainingJob(object, "advice");
    ASSERT_TRUE(job) << job.error().message;
    EXPECT_EQ(job->replicas * job->accelerator.per_worker, gpus);
    EXPECT_EQ(job->accelerator.per_worker, std::min<std::int64_t>(gpus, 8));
  }
}

TEST(AdviseTest, NodesThatTwoFabricsSelectAreTheReasonIfNoneIsLeft) {
  testing::Scene scene(Fleet(kH100));
  Llama8B(scene, "llama", 8);
  scene.inputs.fabrics.push_back(scene.inputs.fabrics.front());
  scene.inputs.fabrics.back().meta.key.name = "other";
  EXPECT_NE(Why(scene.Build()).find("32 nodes are in two Fabrics, so neither uses them: "),
            std::string::npos)
      << Why(scene.Build());
}

TEST(AdviseTest, TheJsonHasTheFieldsOfTheReference) {
  testing::Scene scene(Fleet(kH100));
  Llama8B(scene, "llama", 8);
  const auto json = AdviceJson(AdviceOf(scene.Build()));
  ASSERT_FALSE(json["layouts"].empty());
  const auto& row = json["layouts"][0];
  for (const char* key :
       {"gpus", "tensor", "pipeline", "context", "expert", "data", "sharding", "microBatchSize",
        "activationRecomputation", "memoryBytesPerGPU", "fits", "stepSeconds", "mfu",
        "tokensPerSecond", "powerWatts", "costPerHour", "effectiveTimeShare"}) {
    EXPECT_TRUE(row.contains(key)) << key;
  }
  EXPECT_EQ(row["data"].get<int>() * row["tensor"].get<int>() * row["pipeline"].get<int>() *
                row["context"].get<int>(),
            64);
}

TEST(AdviseTest, RefusesJobsThatCannotBeAdvisedWithTheReason) {
  testing::Scene scene(Fleet(kH100));
  EXPECT_EQ(Why(scene.Build()), "no TrainingJob has a spec.model.transformer");
  Llama8B(scene, "a", 8);
  Llama8B(scene, "b", 8);
  EXPECT_EQ(Why(scene.Build()), "several TrainingJobs could be meant; name one of ns/a, ns/b");
  AdviceRequest request;
  request.job = "c";
  EXPECT_EQ(Why(scene.Build(), request), "no TrainingJob is called c");
  request.job = "ns/b";
  EXPECT_EQ(Why(scene.Build(), request), "");
  scene.Job("plain", 1);
  request.job = "plain";
  EXPECT_EQ(Why(scene.Build(), request),
            "jobs.yaml: TrainingJob ns/plain: spec.model.transformer: is required");
}

TEST(AdviseTest, AnAcceleratorThatNobodyKnowsIsAnErrorUnlessOthersAreKnown) {
  testing::FabricShape shape = Fleet("NVIDIA-H900");
  testing::Scene scene(shape);
  Llama8B(scene, "llama", 8);
  EXPECT_NE(Why(scene.Build())
                .find("label nvidia.com/gpu.product: unknown accelerator "
                      "\"NVIDIA-H900\"; the nearest known are H200 and H100"),
            std::string::npos)
      << Why(scene.Build());
  for (std::size_t n = 0; n < 8; ++n) shape.nodes[n].labels["nvidia.com/gpu.product"] = kH100;
  testing::Scene both(shape);
  Llama8B(both, "llama", 8);
  const Advice advice = AdviceOf(both.Build());
  EXPECT_FALSE(advice.layouts.empty());
  ASSERT_EQ(advice.notes.size(), 1u);
  EXPECT_NE(advice.notes[0].text.find("unknown accelerator"), std::string::npos);
}

}  // namespace
}  // namespace weft::report
