#pragma once

#include "operator/outlook/layout.h"

namespace weft::outlook::testing {

// A GPT of Megatron-LM as its papers count it: f = 4 h, learned positions, tied embeddings, 16-bit
// gradients.
inline traffic::Transformer Gpt(std::int64_t hidden, std::int64_t layers, std::int64_t heads) {
  traffic::Transformer model;
  model.sequence_length = 2048;
  model.vocabulary_size = 51200;
  model.parameters = layers * (12 * hidden * hidden + 13 * hidden) +
                     (model.vocabulary_size + model.sequence_length) * hidden;
  model.layers = layers;
  model.hidden_size = hidden;
  model.attention_heads = heads;
  model.feed_forward_size = 4 * hidden;
  model.gated_feed_forward = false;
  model.micro_batch_size = 1;
  model.global_batch_size = 1;
  model.gradient_precision = traffic::GradientPrecision::kBF16;
  return model;
}

inline Layout Spread(const traffic::Transformer& model, std::int64_t ranks, std::int64_t tensor,
                     std::int64_t pipeline) {
  Layout layout;
  layout.model = model;
  layout.ranks = ranks;
  layout.parallelism.tensor = tensor;
  layout.parallelism.pipeline = pipeline;
  return layout;
}

}  // namespace weft::outlook::testing
