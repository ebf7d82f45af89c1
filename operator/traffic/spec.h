#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "operator/traffic/axis.h"

namespace weft::traffic {

enum class Precision : std::uint8_t { kFP32, kTF32, kFP16, kBF16, kFP8, kMXFP8, kNVFP4 };
enum class GradientPrecision : std::uint8_t { kFP32, kBF16, kFP16, kINT8 };
enum class Recomputation : std::uint8_t { kNone, kSelective, kFull };
enum class Sharding : std::uint8_t { kNone, kOptimizerState, kGradients, kFull, kHybrid };

struct MixtureOfExperts {
  std::int64_t experts = 0;
  std::int64_t top_k = 1;
  std::int64_t layers = 0;  // layers that hold experts
  std::optional<std::int64_t> feed_forward_size;
  std::int64_t shared_experts = 0;

  friend bool operator==(const MixtureOfExperts&, const MixtureOfExperts&) = default;
};

struct Transformer {
  std::int64_t parameters = 0;
  std::int64_t layers = 0;
  std::int64_t hidden_size = 0;
  std::int64_t attention_heads = 0;
  std::int64_t key_value_heads = 0;  // 0: attention_heads
  // Latent attention: size of a token's latent vector, from which the keys and values of all heads
  // are computed.
  std::optional<std::int64_t> key_value_latent_size;
  std::optional<std::int64_t> feed_forward_size;
  bool gated_feed_forward = true;
  std::int64_t vocabulary_size = 0;
  std::int64_t sequence_length = 0;
  std::int64_t micro_batch_size = 0;
  std::int64_t global_batch_size = 0;
  Precision precision = Precision::kBF16;
  GradientPrecision gradient_precision = GradientPrecision::kFP32;
  Recomputation recomputation = Recomputation::kNone;
  std::optional<MixtureOfExperts> moe;

  friend bool operator==(const Transformer&, const Transformer&) = default;
};

struct MeasuredAxis {
  Axis axis = Axis::kTensor;
  std::int64_t bytes_per_gpu = 0;  // per step

  friend bool operator==(const MeasuredAxis&, const MeasuredAxis&) = default;
};

// The model that the ranks train: exactly one of the two is set.
struct Model {
  std::optional<Transformer> transformer;
  std::vector<MeasuredAxis> measured;

  friend bool operator==(const Model&, const Model&) = default;
};

struct Parallelism {
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t pipeline = 1;
  std::int64_t expert = 1;
  std::int64_t expert_tensor = 0;  // 0: tensor
  std::int64_t virtual_pipeline = 1;
  // A permutation of Tensor, Context, Data, Pipeline; the first varies fastest with the rank.
  std::array<Axis, 4> rank_order = {Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline};
  Sharding sharding = Sharding::kNone;
  std::optional<std::int64_t> shard_group_size;

  friend bool operator==(const Parallelism&, const Parallelism&) = default;
};

}  // namespace weft::traffic
