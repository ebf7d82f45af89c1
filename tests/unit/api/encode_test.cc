#include "operator/api/encode.h"

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "operator/api/decode.h"

namespace weft::api {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

Placement FullPlacement() {
  Placement placement;
  placement.meta.key = {"team-a", "llama-1"};
  placement.meta.labels = {{kJobNameLabel, "llama"}};
  placement.workers = 2;
  placement.fabric_name = "default";
  placement.accelerator = {"amd.com/gpu", 8};
  placement.model.emplace().measured = {{traffic::Axis::kTensor, 2'062'000'000'000},
                                        {traffic::Axis::kSharding, 7}};
  placement.parallelism.tensor = 4;
  placement.parallelism.expert_tensor = 2;
  placement.parallelism.rank_order = {traffic::Axis::kData, traffic::Axis::kTensor,
                                      traffic::Axis::kContext, traffic::Axis::kPipeline};
  placement.parallelism.sharding = traffic::Sharding::kHybrid;
  placement.parallelism.shard_group_size = 2;
  placement.topology = {"spine", "leaf", 600, {{{traffic::Axis::kExpertTensor}, "node", ""}}};
  placement.pod_selector = fabric::LabelSelector{{{"app", "x"}}, {{"tier", "In", {"a", "b"}}}};
  placement.worker_index_labels = {{"example.com/index", 8, {{"a", 0}, {"b", 4}}}};
  placement.nodes = {"n1", "n2"};
  placement.excluded = {{"n3", "2026-01-01T00:00:00Z", 2}};
  return placement;
}

TEST(EncodeTest, APlacementReadsAsInTheReference) {
  EXPECT_EQ(
      EncodePlacement(FullPlacement()).dump(),
      R"({"apiVersion":"weft.dev/v1alpha1","kind":"Placement",)"
      R"("metadata":{"name":"llama-1","namespace":"team-a",)"
      R"("labels":{"weft.dev/job-name":"llama"}},)"
      R"("spec":{"workers":2,"fabricName":"default",)"
      R"("accelerator":{"resourceName":"amd.com/gpu","perWorker":8},)"
      R"("model":{"type":"Measured","measured":[{"axis":"Tensor","bytesPerGPU":"2062G"},)"
      R"({"axis":"Sharding","bytesPerGPU":"7"}]},)"
      R"("parallelism":{"tensor":4,"context":1,"pipeline":1,"expert":1,"expertTensor":2,)"
      R"("virtualPipeline":1,"rankOrder":["Data","Tensor","Context","Pipeline"],)"
      R"("sharding":"Hybrid","shardGroupSize":2},)"
      R"("topology":{"required":"spine","preferred":"leaf","waitForPreferredSeconds":600,)"
      R"("groups":[{"axes":["ExpertTensor"],"required":"node"}]},)"
      R"("podSelector":{"matchLabels":{"app":"x"},"matchExpressions":)"
      R"([{"key":"tier","operator":"In","values":["a","b"]}]},)"
      R"("workerIndexLabels":[{"key":"example.com/index","stride":8,"values":{"a":0,"b":4}}]},)"
      R"("status":{"nodes":["n1","n2"],"excludedNodes":)"
      R"([{"node":"n3","until":"2026-01-01T00:00:00Z","times":2}]}})");
}

TEST(EncodeTest, APlacementDecodesToWhatWasEncoded) {
  const Placement before = FullPlacement();
  const auto after = DecodePlacement(json(EncodePlacement(before)), "again");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->meta.key, before.meta.key);
  EXPECT_EQ(after->meta.labels, before.meta.labels);
  EXPECT_EQ(after->model, before.model);
  EXPECT_EQ(after->parallelism, before.parallelism);
  EXPECT_EQ(after->pod_selector, before.pod_selector);
  EXPECT_EQ(after->nodes, before.nodes);
  EXPECT_EQ(after->excluded, before.excluded);
  EXPECT_EQ(EncodePlacement(*after), EncodePlacement(before));
}

TEST(EncodeTest, AStatusOfTheCallerStandsAsItIs) {
  const ordered_json status = {{"spans", {{{"level", "leaf"}, {"domains", 1}}}}};
  EXPECT_EQ(EncodePlacement(FullPlacement(), status)["status"], status);
  EXPECT_FALSE(EncodePlacement(FullPlacement(), nullptr).contains("status"));
}

TEST(EncodeTest, ATransformerDecodesToWhatWasEncoded) {
  Placement before = FullPlacement();
  before.parallelism = {};
  before.model = traffic::Model{};
  traffic::Transformer& model = before.model->transformer.emplace();
  model = {.parameters = 671'000'000'000,
           .layers = 61,
           .hidden_size = 7168,
           .attention_heads = 128,
           .key_value_heads = 16,
           .key_value_latent_size = 512,
           .feed_forward_size = 18432,
           .gated_feed_forward = false,
           .vocabulary_size = 129280,
           .sequence_length = 4096,
           .micro_batch_size = 1,
           .global_batch_size = 16,
           .precision = traffic::Precision::kNVFP4,
           .gradient_precision = traffic::GradientPrecision::kINT8,
           .recomputation = traffic::Recomputation::kFull,
           .moe = traffic::MixtureOfExperts{256, 8, 58, 2048, 1}};
  const auto after = DecodePlacement(json(EncodePlacement(before)), "again");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->model, before.model);
  EXPECT_EQ(after->parallelism, before.parallelism);
}

Fabric FullFabric() {
  Fabric fabric;
  fabric.meta.key.name = "default";
  fabric::FabricSpec& spec = fabric.spec;
  const fabric::LinkSpec link{"InfiniBandNDR", 12'345'678'901, 200, 7000};
  spec.node_selector = fabric::LabelSelector{{}, {{"rack", "Gt", {"7"}}}};
  spec.levels = {{"spine", "example.com/spine", fabric::Identity::kPath, link},
                 {"leaf", "", fabric::Identity::kValue, {}}};
  spec.outside = fabric::LinkSpec{};
  spec.scale_up =
      fabric::ScaleUpSpec{"nvl", "nvidia.com/gpu.clique", link, fabric::ScaleUpRequires::kNothing};
  spec.torus = fabric::TorusSpec{
      "ici", {{"example.com/x", 8, true}, {"example.com/y", 10, false}}, "spine", link};
  spec.torus->shapes = {{{"s3", "s4"}, {4, 4}, {}}, {{"s5"}, {16, 1}, {true, false}}};
  spec.planes = {{"red", "example.com/red", link}, {"blue", "example.com/blue", {}}};
  spec.node_link = fabric::LinkSpec{"NVLink5", {}, 100, {}};
  spec.rails = fabric::RailsSpec{2, {"weft.dev/rail-0", "weft.dev/rail-1"}};
  spec.unusable = {{{"sick", "yes", "NoSchedule"}, {"old", "", ""}},
                   {{"GpuSick", "Unknown"}},
                   {{"lab", ""}},
                   false};
  spec.cost_tolerance_percent = 0;
  spec.accelerator_model = "H100";
  spec.accelerator_resources = {"example.com/x1"};
  spec.levels[0].power_watts = 300'000;
  spec.accelerators = {{.name = "X1",
                        .products = {"Acme X1"},
                        .fp32 = 1,
                        .tf32 = 2,
                        .bf16 = 1'200'000'000'000'000,
                        .fp8 = 4,
                        .fp4 = 5,
                        .memory_bytes = 128'000'000'000,
                        .memory_bytes_per_second = 4'000'000'000'000,
                        .watts = 800,
                        .calibrated_as = "H100",
                        .source = "Acme, 2026"}};
  spec.pooled_memory = fabric::PooledMemorySpec{1'000, 63'000'000'000};
  spec.failure_rates = {{"node", 3.79, 14'400}, {"leaf", 0.4, 7'200}, {"nvl", 0, 1}};
  return fabric;
}

TEST(EncodeTest, AFabricDecodesToWhatWasEncoded) {
  const Fabric before = FullFabric();
  const auto after = DecodeFabric(json(EncodeFabric(before)), "again");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->spec, before.spec);
}

TEST(EncodeTest, AFabricOfAPresetHasNoLevelsButMayLimitThem) {
  Fabric before;
  before.meta.key.name = "default";
  before.spec.preset = "TopographV1";
  before.spec.levels.emplace_back();
  before.spec.levels[0].name = "leaf";
  before.spec.levels[0].power_watts = 30'000;
  const ordered_json encoded = EncodeFabric(before);
  EXPECT_EQ(encoded["spec"].dump(),
            R"({"preset":"TopographV1","powerLimits":[{"level":"leaf","watts":30000}],)"
            R"("costTolerancePercent":1})");
  const auto after = DecodeFabric(json(encoded), "again");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->spec, before.spec);
}

TEST(EncodeTest, TheSpecOfAFabricReadsAsInTheReference) {
  Fabric fabric;
  fabric.spec.levels = {
      {"leaf", "x", fabric::Identity::kValue, fabric::LinkSpec{"RoCE400", {}, 100, {}}}};
  EXPECT_EQ(EncodeFabricSpec(fabric.spec).dump(),
            R"({"levels":[{"name":"leaf","labelKey":"x","identity":"Value",)"
            R"("link":{"type":"RoCE400"}}],"costTolerancePercent":1})");
}

}  // namespace
}  // namespace weft::api
