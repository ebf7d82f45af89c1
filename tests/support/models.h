#pragma once

#include "operator/traffic/spec.h"

namespace weft::traffic::testing {

// Llama-3 70B as its public worked example counts it, 512 sequences a step.
inline Transformer Llama70B() {
  Transformer model;
  model.parameters = 70'600'000'000;
  model.layers = 80;
  model.hidden_size = 8192;
  model.attention_heads = 64;
  model.key_value_heads = 8;
  model.feed_forward_size = 28672;
  model.vocabulary_size = 128256;
  model.sequence_length = 8192;
  model.micro_batch_size = 1;
  model.global_batch_size = 512;
  return model;
}

// DeepSeek-V3: 58 layers of 256 experts, of which a token takes 8 and a shared one.
inline Transformer DeepSeekV3() {
  Transformer model;
  model.parameters = 671'000'000'000;
  model.layers = 61;
  model.hidden_size = 7168;
  model.attention_heads = 128;
  model.feed_forward_size = 18432;
  model.vocabulary_size = 129280;
  model.sequence_length = 4096;
  model.moe = MixtureOfExperts{256, 8, 58, 2048, 1};
  return model;
}

// Small whole numbers that a reader can multiply by hand: tok 4, h 8, m = 8 / data.
inline Transformer Small() {
  Transformer model;
  model.parameters = 4096;
  model.layers = 4;
  model.hidden_size = 8;
  model.attention_heads = 4;
  model.key_value_heads = 2;
  model.sequence_length = 4;
  model.micro_batch_size = 1;
  model.global_batch_size = 8;
  return model;
}

inline Transformer SmallExperts() {
  Transformer model = Small();
  model.moe = MixtureOfExperts{4, 2, 2, 4, 0};  // 2 layers x 4 experts x 3 x 8 x 4 = 768
  return model;
}

inline Parallelism Degrees(std::int64_t tensor, std::int64_t context, std::int64_t pipeline) {
  Parallelism shape;
  shape.tensor = tensor;
  shape.context = context;
  shape.pipeline = pipeline;
  return shape;
}

}  // namespace weft::traffic::testing
