#include "operator/traffic/check_shape.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "operator/base/units.h"

namespace weft::traffic {
namespace {

constexpr std::int64_t kMostDegree = std::int64_t{1} << 20;

std::string Show(std::int64_t value) { return std::to_string(value); }

Status CheckDegrees(const Parallelism& p) {
  const std::pair<const char*, std::int64_t> degrees[] = {
      {"tensor", p.tensor},
      {"context", p.context},
      {"pipeline", p.pipeline},
      {"expert", p.expert},
      {"expertTensor", p.expert_tensor == 0 ? p.tensor : p.expert_tensor},
      {"virtualPipeline", p.virtual_pipeline}};
  for (const auto& [name, degree] : degrees) {
    if (degree < 1 || degree > kMostDegree) {
      return Invalid("parallelism." + std::string(name) + ": must be between 1 and " +
                     Show(kMostDegree) + ", is " + Show(degree));
    }
  }
  for (Axis axis : {Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline}) {
    if (std::count(p.rank_order.begin(), p.rank_order.end(), axis) != 1) {
      return Invalid(
          "parallelism.rankOrder: must name Tensor, Context, Data and Pipeline once each");
    }
  }
  return {};
}

bool Names(const std::optional<Model>& model, Axis axis) {
  if (!model) return false;
  return std::any_of(model->measured.begin(), model->measured.end(),
                     [&](const MeasuredAxis& measured) { return measured.axis == axis; });
}

// If expert is 1, no formula needs the blocks of expertTensor, but a measured figure does.
Status CheckExperts(const std::optional<Model>& model, const Parallelism& p, std::int64_t stage) {
  if (p.expert == 1) {
    const std::int64_t size = p.expert_tensor == 0 ? p.tensor : p.expert_tensor;
    if (stage % size == 0 || !Names(model, Axis::kExpertTensor)) return {};
    return Invalid("parallelism.expertTensor: " + Show(size) + " must divide the " + Show(stage) +
                   " ranks of one pipeline stage, since model.measured names ExpertTensor");
  }
  if (model && model->transformer && !model->transformer->moe) {
    return Invalid(
        "parallelism.expert: is " + Show(p.expert) +
        ", but model.transformer has no moe: expert parallelism needs a mixture of experts");
  }
  const std::int64_t block = p.expert * (p.expert_tensor == 0 ? p.tensor : p.expert_tensor);
  if (stage % block != 0) {
    return Invalid("parallelism.expert: expert x expertTensor = " + Show(block) +
                   " must divide the " + Show(stage) + " ranks of one pipeline stage");
  }
  return {};
}

Status CheckSharding(const Parallelism& p, std::int64_t data, std::int64_t stage) {
  const bool hybrid = p.sharding == Sharding::kHybrid;
  if (hybrid != p.shard_group_size.has_value()) {
    return Invalid(hybrid ? "parallelism.shardGroupSize: is required with sharding Hybrid"
                          : "parallelism.shardGroupSize: is only for sharding Hybrid");
  }
  if (!hybrid) return {};
  const std::int64_t size = *p.shard_group_size;
  const std::int64_t group = data * p.context;
  if (size < 1 || group % size != 0) {
    return Invalid("parallelism.shardGroupSize: " + Show(size) +
                   " must divide the gradient group of " + Show(group) + " ranks (data x context)");
  }
  if (p.expert == 1) return {};
  const std::int64_t block = p.expert * (p.expert_tensor == 0 ? p.tensor : p.expert_tensor);
  if (stage / block % size != 0) {
    return Invalid("parallelism.shardGroupSize: " + Show(size) + " must divide the " +
                   Show(stage / block) + " ranks that hold the same experts");
  }
  return {};
}

Status CheckBatches(const Transformer& model, std::int64_t data) {
  std::int64_t each = 0;
  const bool over = __builtin_mul_overflow(model.micro_batch_size, data, &each);
  if (!over && model.global_batch_size % each == 0) return {};
  return Invalid("model.transformer.globalBatchSize: " + Show(model.global_batch_size) +
                 " must be a multiple of microBatchSize x data = " + Show(model.micro_batch_size) +
                 " x " + Show(data));
}

// Checks the numbers that the formulas multiply and divide by.
Status CheckModel(const std::optional<Model>& model, std::int64_t data) {
  if (!model) return {};
  for (const MeasuredAxis& measured : model->measured) {
    if (measured.bytes_per_gpu < 0) {
      return Invalid("model.measured." + std::string(AxisName(measured.axis)) +
                     ".bytesPerGPU: must not be negative");
    }
  }
  if (!model->transformer) return {};
  const Transformer& t = *model->transformer;
  MixtureOfExperts experts;
  experts.experts = 1;
  if (t.moe) experts = *t.moe;
  const std::tuple<const char*, std::int64_t, std::int64_t> least[] = {
      {"parameters", t.parameters, 1},
      {"layers", t.layers, 1},
      {"hiddenSize", t.hidden_size, 1},
      {"attentionHeads", t.attention_heads, 1},
      {"keyValueHeads", t.key_value_heads, 0},
      {"vocabularySize", t.vocabulary_size, 0},
      {"sequenceLength", t.sequence_length, 1},
      {"microBatchSize", t.micro_batch_size, 1},
      {"globalBatchSize", t.global_batch_size, 1},
      {"moe.experts", experts.experts, 1},
      {"moe.topK", experts.top_k, 1},
      {"moe.layers", experts.layers, 0},
      {"moe.feedForwardSize", experts.feed_forward_size.value_or(0), 0}};
  for (const auto& [name, value, lowest] : least) {
    if (value >= lowest) continue;
    return Invalid("model.transformer." + std::string(name) + ": must be at least " + Show(lowest) +
                   ", is " + Show(value));
  }
  return CheckBatches(t, data);
}

}  // namespace

Status CheckShape(const std::optional<Model>& model, const Parallelism& p, std::uint32_t workers,
                  std::uint32_t per_worker) {
  if (Status degrees = CheckDegrees(p); !degrees) return degrees;
  const std::int64_t world = static_cast<std::int64_t>(workers) * per_worker;
  if (world < 1 || world > std::numeric_limits<std::int32_t>::max()) {
    return Invalid("workers.replicas: the world of " + Show(world) + " ranks is out of range");
  }
  const std::int64_t fixed =
      SaturatingMultiply(SaturatingMultiply(p.tensor, p.context), p.pipeline);
  if (world % fixed != 0) {
    return Invalid("parallelism: tensor x context x pipeline = " + Show(fixed) +
                   " must divide the world of " + Show(world) + " ranks (" + Show(workers) +
                   " workers x " + Show(per_worker) + ")");
  }
  const std::int64_t data = world / fixed;
  const std::int64_t stage = world / p.pipeline;
  if (Status experts = CheckExperts(model, p, stage); !experts) return experts;
  if (Status sharding = CheckSharding(p, data, stage); !sharding) return sharding;
  return CheckModel(model, data);
}

}  // namespace weft::traffic
