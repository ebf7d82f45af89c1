#include "operator/traffic/volumes.h"

#include <algorithm>

namespace weft::traffic {

namespace {

std::int64_t WireBytes(Precision precision) {
  return precision == Precision::kFP32 || precision == Precision::kTF32 ? 4 : 2;
}

std::int64_t GradientBytes(GradientPrecision precision) {
  if (precision == GradientPrecision::kFP32) return 4;
  return precision == GradientPrecision::kINT8 ? 1 : 2;
}

}  // namespace

Volumes::Volumes(const Transformer& model, const Parallelism& parallelism, const Shape& shape)
    : model_(model),
      parallelism_(parallelism),
      shape_(shape),
      wire_(WireBytes(model.precision)),
      gradient_(GradientBytes(model.gradient_precision)),
      micro_batches_(model.global_batch_size / (model.micro_batch_size * shape.data())) {}

Ratio Volumes::Tokens() const {
  Ratio tokens = model_.micro_batch_size;
  tokens *= model_.sequence_length;
  return tokens /= shape_.context();
}

Ratio Volumes::Tensor() const {
  Ratio bytes = 8 * wire_ * (std::int64_t{shape_.tensor()} - 1);
  bytes /= shape_.tensor();
  bytes *= Tokens();
  bytes *= model_.hidden_size;
  bytes *= model_.layers;
  bytes /= shape_.pipeline();
  bytes *= micro_batches_;
  if (model_.recomputation == Recomputation::kFull) (bytes *= 3) /= 2;
  return bytes;
}

Ratio Volumes::Context() const {
  const std::int64_t heads =
      model_.key_value_heads > 0 ? model_.key_value_heads : model_.attention_heads;
  Ratio bytes = 6 * wire_ * (std::int64_t{shape_.context()} - 1);
  bytes *= Tokens();
  if (heads > shape_.tensor()) (bytes *= heads) /= shape_.tensor();
  bytes *= model_.hidden_size;
  bytes /= model_.attention_heads;
  bytes *= model_.layers;
  bytes /= shape_.pipeline();
  bytes *= micro_batches_;
  if (model_.recomputation == Recomputation::kFull) (bytes *= 4) /= 3;
  return bytes;
}

Ratio Volumes::Boundary() const {
  Ratio bytes = Tokens();
  bytes *= model_.hidden_size;
  bytes /= shape_.tensor();
  bytes *= wire_;
  return bytes *= micro_batches_;
}

Ratio Volumes::ExpertPerPeer() const {
  Ratio bytes = 4 * wire_;
  bytes *= Tokens();
  bytes /= shape_.tensor();
  bytes *= model_.moe->top_k;
  bytes *= model_.hidden_size;
  bytes /= shape_.expert();  // (e - 1) / e in total, to e - 1 equal peers
  bytes *= model_.moe->layers;
  bytes /= shape_.pipeline();
  bytes *= micro_batches_;
  if (model_.recomputation == Recomputation::kFull) (bytes *= 3) /= 2;
  return bytes;
}

Ratio Volumes::ExpertTensor() const {
  Ratio bytes = 4 * wire_ * (std::int64_t{shape_.expert_tensor()} - 1);
  bytes *= Tokens();
  bytes /= shape_.tensor();
  bytes *= model_.moe->top_k;
  bytes *= model_.hidden_size;
  bytes *= model_.moe->layers;
  bytes /= shape_.pipeline();
  bytes *= micro_batches_;
  if (model_.recomputation == Recomputation::kFull) (bytes *= 3) /= 2;
  return bytes;
}

// Parameters of all experts: by the experts' width if given, else what the dense part leaves of the
// model's parameters.
Ratio Volumes::AllExperts() const {
  if (!model_.moe) return 0;
  if (model_.moe->feed_forward_size) {
    Ratio experts = model_.gated_feed_forward ? 3 : 2;
    experts *= model_.moe->layers;
    experts *= model_.moe->experts;
    experts *= model_.hidden_size;
    return experts *= *model_.moe->feed_forward_size;
  }
  const std::int64_t heads =
      model_.key_value_heads > 0 ? model_.key_value_heads : model_.attention_heads;
  Ratio experts = model_.parameters;
  Ratio embeddings = 2;
  embeddings *= model_.vocabulary_size;
  experts -= embeddings *= model_.hidden_size;
  Ratio queries = 2;
  queries *= model_.layers;
  queries *= model_.hidden_size;
  queries *= model_.hidden_size;
  Ratio keys = queries;
  (keys *= heads) /= model_.attention_heads;
  experts -= queries;
  return experts -= keys;
}

Ratio Volumes::DenseParameters() const {
  Ratio dense = model_.parameters;
  if (shape_.expert() > 1) dense -= AllExperts();
  return (dense /= shape_.tensor()) /= shape_.pipeline();
}

Ratio Volumes::ExpertParameters() const {
  Ratio experts = AllExperts();
  experts /= shape_.expert_tensor();
  experts /= shape_.expert();
  return experts /= shape_.pipeline();
}

Ratio Volumes::Gradients(Ratio parameters, std::uint32_t ranks) const {
  Ratio each = 1;  // bytes per stored parameter and step
  switch (parallelism_.sharding) {
    case Sharding::kNone:
      each *= 2 * gradient_;
      break;
    case Sharding::kOptimizerState:
      each *= gradient_ + wire_;
      break;
    case Sharding::kGradients:
      each *= micro_batches_;
      each *= gradient_;
      each += wire_;
      break;
    case Sharding::kFull:
    case Sharding::kHybrid:
      each *= micro_batches_;
      each *= 2 * wire_ + gradient_;
      break;
  }
  parameters *= each;
  parameters *= std::int64_t{ranks} - 1;
  return parameters /= ranks;
}

Ratio Volumes::Inside(Ratio parameters, std::uint32_t group) const {
  return Gradients(parameters, group);
}

Ratio Volumes::Across(Ratio parameters, std::uint32_t group, std::uint32_t groups) const {
  parameters /= group;
  parameters *= 2 * gradient_;
  parameters *= std::int64_t{groups} - 1;
  return parameters /= groups;
}

}  // namespace weft::traffic
