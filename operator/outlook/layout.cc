#include "operator/outlook/layout.h"

#include <algorithm>

#include "operator/outlook/real.h"

namespace weft::outlook {
namespace {

using traffic::Sharding;

// Sizes of a head in latent attention; they are the same in all published models.
// Source  DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 4.2; Kimi K2, 2025.
constexpr double kLatentHead = 128;
constexpr double kLatentRotary = 64;

double Matrices(const traffic::Transformer& model) { return model.gated_feed_forward ? 3 : 2; }

// Parameters of Q, K, V and the output projection in all layers.
double AttentionParameters(const traffic::Transformer& model) {
  const double hidden = Real(model.hidden_size), heads = Real(model.attention_heads);
  const double shared = Real(model.key_value_heads > 0 ? model.key_value_heads : 0);
  return Real(model.layers) * 2 * hidden * hidden * (1 + (shared > 0 ? shared / heads : 1));
}

double Experts(const traffic::Transformer& model) {
  if (!model.moe) return 0;
  const double hidden = Real(model.hidden_size);
  if (model.moe->feed_forward_size) {
    return Real(model.moe->layers) * Real(model.moe->experts) * Matrices(model) * hidden *
           Real(*model.moe->feed_forward_size);
  }
  const double rest = Real(model.parameters) - 2 * Real(model.vocabulary_size) * hidden -
                      AttentionParameters(model);
  return std::max(rest, 0.0);
}

void SetFeedForward(const traffic::Transformer& model, Sizes& sizes) {
  const double hidden = Real(model.hidden_size), layers = Real(model.layers);
  const double each = layers * Matrices(model) * hidden;
  const double dense = model.moe ? layers - Real(model.moe->layers) : layers;
  if (model.feed_forward_size) {
    sizes.feed_forward = dense > 0 ? Real(*model.feed_forward_size) : 0;
    const double rest = Real(model.parameters) - AttentionParameters(model) - sizes.experts -
                        each * dense / layers * sizes.feed_forward;
    // If less than one and a half embeddings are left, the embeddings are tied.
    if (!model.moe && rest < 1.5 * sizes.embedding) sizes.embeddings = 1;
  } else if (dense > 0) {
    const double rest =
        Real(model.parameters) - 2 * sizes.embedding - sizes.experts - AttentionParameters(model);
    sizes.feed_forward = std::max(rest / (each * dense / layers), 0.0);
  }
}

void SetAttention(const Layout& layout, Sizes& sizes) {
  const traffic::Transformer& model = layout.model;
  const double heads = Real(model.attention_heads);
  const double head = Real(model.hidden_size) / heads;
  if (model.key_value_latent_size) {
    sizes.query_width = heads * (kLatentHead + kLatentRotary);
    sizes.value_width = heads * kLatentHead;
    sizes.key_value_width = (sizes.query_width + sizes.value_width) / 2;
    sizes.latent = Real(*model.key_value_latent_size);
    return;
  }
  sizes.query_width = sizes.value_width = heads * head;
  sizes.key_value_width =
      Real(model.key_value_heads > 0 ? model.key_value_heads : model.attention_heads) * head;
}

}  // namespace

Degrees DegreesOf(const Layout& layout) {
  const traffic::Parallelism& p = layout.parallelism;
  Degrees out;
  out.tensor = Real(p.tensor);
  out.context = Real(p.context);
  out.pipeline = Real(p.pipeline);
  out.data = Real(layout.ranks) / (out.tensor * out.context * out.pipeline);
  out.expert = Real(p.expert);
  out.expert_tensor = Real(p.expert_tensor == 0 ? p.tensor : p.expert_tensor);
  out.virtual_pipeline = Real(p.virtual_pipeline);
  const traffic::Transformer& model = layout.model;
  out.micro_batches = Real(model.global_batch_size) / (Real(model.micro_batch_size) * out.data);
  out.tokens = Real(model.micro_batch_size) * Real(model.sequence_length) / out.context;
  out.gradient_group = out.data * out.context;
  out.expert_gradient_group = Real(layout.ranks) / (out.pipeline * out.expert * out.expert_tensor);
  if (p.sharding == Sharding::kHybrid) {
    out.shard_group = out.expert_shard_group = Real(p.shard_group_size.value_or(1));
  } else if (p.sharding != Sharding::kNone) {
    out.shard_group = out.gradient_group;
    out.expert_shard_group = out.expert_gradient_group;
  }
  return out;
}

Sizes SizesOf(const Layout& layout) {
  const traffic::Transformer& model = layout.model;
  Sizes sizes;
  sizes.embedding = Real(model.vocabulary_size) * Real(model.hidden_size);
  sizes.experts = std::min(Experts(model), Real(model.parameters));
  if (model.moe) {
    const auto& moe = *model.moe;
    sizes.active = sizes.experts * Real(moe.top_k) / Real(moe.experts);
    if (moe.layers > 0) {
      sizes.expert_width = sizes.experts / (Real(moe.layers) * Real(moe.experts) * Matrices(model) *
                                            Real(model.hidden_size));
    }
  }
  SetFeedForward(model, sizes);
  SetAttention(layout, sizes);
  sizes.layers =
      std::max(Real(model.parameters) - sizes.embeddings * sizes.embedding - sizes.experts, 0.0);
  return sizes;
}

Expected ExpectedParameters(const traffic::Transformer& model) {
  const double hidden = Real(model.hidden_size), layers = Real(model.layers);
  const double embedding = Real(model.vocabulary_size) * hidden;
  const double dense = model.moe ? std::max(layers - Real(model.moe->layers), 0.0) : layers;
  constexpr double kUsualProducts = 8;  // of hidden x hidden: 3 x 8/3, or 2 x 4
  const double feed_forward = model.feed_forward_size
                                  ? Matrices(model) * hidden * Real(*model.feed_forward_size)
                                  : kUsualProducts * hidden * hidden;
  double sum = AttentionParameters(model) + dense * feed_forward;
  const bool open = model.moe && !model.moe->feed_forward_size;
  if (model.moe && !open) {
    const double each = Matrices(model) * hidden * Real(*model.moe->feed_forward_size);
    sum += Real(model.moe->layers) * (Real(model.moe->experts) + Real(model.moe->shared_experts)) *
           each;
  }
  Expected out;
  out.least = sum + embedding;
  if (!open) out.most = sum + 2 * embedding;
  return out;
}

double ModelFlops(const Layout& layout) {
  const traffic::Transformer& model = layout.model;
  const Sizes sizes = SizesOf(layout);
  const double sequence = Real(model.sequence_length);
  const double tokens = Real(model.global_batch_size) * sequence;
  const double attention =
      Real(model.layers) * (sizes.query_width + sizes.value_width) * sequence / 2;
  return 6 * tokens * (sizes.MatrixLayers() + sizes.embedding + attention);
}

double WireBytes(traffic::Precision precision) {
  const bool full =
      precision == traffic::Precision::kFP32 || precision == traffic::Precision::kTF32;
  return full ? 4 : 2;
}

double GradientBytes(traffic::GradientPrecision precision) {
  if (precision == traffic::GradientPrecision::kFP32) return 4;
  return precision == traffic::GradientPrecision::kINT8 ? 1 : 2;
}

}  // namespace weft::outlook
