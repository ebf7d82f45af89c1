#include "operator/api/decode_model.h"

#include <algorithm>
#include <limits>

#include "operator/api/names.h"

namespace weft::api {
namespace {

using traffic::Axis;

constexpr std::size_t kTransformer = 0;
constexpr std::size_t kMeasured = 1;

traffic::MixtureOfExperts DecodeExperts(const Field& field) {
  field.RefuseUnknown({"experts", "topK", "layers", "feedForwardSize", "sharedExperts"});
  traffic::MixtureOfExperts moe;
  moe.experts = field["experts"].Require().Int(kDegree);
  moe.top_k = field["topK"].Int(kDegree, moe.top_k);
  moe.layers = field["layers"].Require().Int(kDegree);
  moe.feed_forward_size = field["feedForwardSize"].OptionalInt(kWidth);
  moe.shared_experts = field["sharedExperts"].Int(kCount);
  if (moe.top_k > moe.experts)
    field["topK"].Fail("must be at most experts (" + std::to_string(moe.experts) + ")");
  return moe;
}

traffic::Transformer DecodeTransformer(const Field& field, ModelOf of) {
  field.RefuseUnknown({"parameters", "layers", "hiddenSize", "attentionHeads", "keyValueHeads",
                       "keyValueLatentSize", "feedForwardSize", "gatedFeedForward",
                       "vocabularySize", "sequenceLength", "microBatchSize", "globalBatchSize",
                       "precision", "gradientPrecision", "activationRecomputation", "moe"});
  traffic::Transformer model;
  model.parameters = field["parameters"].Require().Int(kParameters);
  model.layers = field["layers"].Require().Int(kDegree);
  model.hidden_size = field["hiddenSize"].Require().Int(kWidth);
  model.attention_heads = field["attentionHeads"].Require().Int(kDegree);
  model.key_value_heads = field["keyValueHeads"].Int(kDegree);
  model.key_value_latent_size = field["keyValueLatentSize"].OptionalInt(kWidth);
  model.feed_forward_size = field["feedForwardSize"].OptionalInt(kWidth);
  model.gated_feed_forward = field["gatedFeedForward"].Bool(model.gated_feed_forward);
  model.vocabulary_size = field["vocabularySize"].Int({.min = 0, .max = kWidth.max});
  model.sequence_length = field["sequenceLength"].Require().Int(kWidth);
  const Field micro_batch = field["microBatchSize"];
  if (of == ModelOf::kJob) micro_batch.Require();
  model.micro_batch_size = micro_batch.Int(kDegree, 1);
  model.global_batch_size = field["globalBatchSize"].Require().Int(kWidth);
  model.precision = ReadEnum(field["precision"], kPrecisionNames, model.precision);
  model.gradient_precision =
      ReadEnum(field["gradientPrecision"], kGradientPrecisionNames, model.gradient_precision);
  model.recomputation =
      ReadEnum(field["activationRecomputation"], kRecomputationNames, model.recomputation);
  if (model.key_value_heads > model.attention_heads) {
    field["keyValueHeads"].Fail("must be at most attentionHeads (" +
                                std::to_string(model.attention_heads) + ")");
  }
  if (const Field moe = field["moe"]; moe.present()) {
    model.moe = DecodeExperts(moe);
    if (model.moe->layers > model.layers) {
      moe["layers"].Fail("must be at most the model's layers (" + std::to_string(model.layers) +
                         ")");
    }
  }
  return model;
}

std::vector<traffic::MeasuredAxis> DecodeMeasured(const Field& field) {
  std::vector<traffic::MeasuredAxis> measured;
  for (const Field& item : field.Items()) {
    item.RefuseUnknown({"axis", "bytesPerGPU"});
    const auto axis = ReadEnum<Axis>(item["axis"].Require(), kMeasuredAxisNames);
    const bool again = std::any_of(measured.begin(), measured.end(),
                                   [&](const auto& other) { return other.axis == axis; });
    if (again) item.Fail("has the axis " + item["axis"].Str() + ", which is given already");
    const Field bytes = item["bytesPerGPU"];
    measured.push_back({axis, ReadQuantity(bytes.Require()).value_or(0)});
    if (measured.back().bytes_per_gpu < 0) bytes.Fail("must not be negative");
  }
  if (measured.empty()) field.Fail("must name at least one axis");
  return measured;
}

std::array<Axis, 4> DecodeRankOrder(const Field& field, std::array<Axis, 4> order) {
  if (!field.present()) return order;
  const std::vector<Field> items = field.Items();
  if (items.size() != order.size()) {
    field.Fail("must name Tensor, Context, Data and Pipeline once each");
    return order;
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!items[i].present()) items[i].Fail("must be a string");
    order[i] = ReadEnum<Axis>(items[i], kRankAxisNames);
    if (std::find(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i), order[i]) !=
        order.begin() + static_cast<std::ptrdiff_t>(i)) {
      field.Fail("must name Tensor, Context, Data and Pipeline once each");
    }
  }
  return order;
}

}  // namespace

std::optional<traffic::Model> DecodeModel(const Field& field, ModelOf of) {
  field.RefuseUnknown({"type", "transformer", "measured"});
  const Field type = field["type"], transformer = field["transformer"];
  const Field measured = field["measured"];
  if (!type.present() && !transformer.present() && !measured.present()) return {};
  const std::size_t chosen = type.Require().OneOf({"Transformer", "Measured"});
  traffic::Model model;
  if (chosen == kTransformer) {
    if (measured.present()) measured.Fail("is only for type Measured");
    model.transformer = DecodeTransformer(transformer.Require(), of);
  } else if (chosen == kMeasured) {
    if (transformer.present()) transformer.Fail("is only for type Transformer");
    model.measured = DecodeMeasured(measured.Require());
  }
  return model;
}

traffic::Parallelism DecodeParallelism(const Field& field) {
  field.RefuseUnknown({"tensor", "context", "pipeline", "expert", "expertTensor", "virtualPipeline",
                       "rankOrder", "sharding", "shardGroupSize"});
  traffic::Parallelism result;
  result.tensor = field["tensor"].Int(kDegree, result.tensor);
  result.context = field["context"].Int(kDegree, result.context);
  result.pipeline = field["pipeline"].Int(kDegree, result.pipeline);
  result.expert = field["expert"].Int(kDegree, result.expert);
  result.expert_tensor = field["expertTensor"].Int(kDegree, result.expert_tensor);
  result.virtual_pipeline = field["virtualPipeline"].Int(kDegree, result.virtual_pipeline);
  result.rank_order = DecodeRankOrder(field["rankOrder"], result.rank_order);
  result.sharding = ReadEnum<traffic::Sharding>(field["sharding"], kShardingNames);
  const Field shard_group_size = field["shardGroupSize"];
  result.shard_group_size = shard_group_size.OptionalInt(kDegree);
  const bool hybrid = result.sharding == traffic::Sharding::kHybrid;
  if (hybrid && !shard_group_size.present()) shard_group_size.Fail("is required with Hybrid");
  if (!hybrid && shard_group_size.present()) shard_group_size.Fail("is only for sharding Hybrid");
  return result;
}

}  // namespace weft::api
