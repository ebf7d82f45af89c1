#include "operator/traffic/messages.h"

#include "operator/base/units.h"

namespace weft::traffic {
namespace {

struct StepCounts {
  std::int64_t micro_batches = 1;
  std::int64_t layers = 1;         // layers of one stage
  std::int64_t expert_layers = 1;  // layers with experts in one stage
  bool recompute = false;
};

std::int64_t PerStage(std::int64_t layers, std::int64_t stages) {
  return (layers + stages - 1) / stages;
}

std::int64_t Times(std::int64_t a, std::int64_t b, std::int64_t c) {
  return SaturatingMultiply(SaturatingMultiply(a, b), c);
}

std::int64_t Messages(const GroupFamily& family, const Parallelism& parallelism,
                      const StepCounts& step) {
  const std::int64_t hops = std::int64_t{family.group_size} - 1;
  const std::int64_t m = step.micro_batches;
  switch (family.axis) {
    case Axis::kTensor:
      return Times((step.recompute ? 12 : 8) * hops, step.layers, m);
    case Axis::kContext:
      return Times((step.recompute ? 4 : 3) * hops, step.layers, m);
    case Axis::kPipeline:
      return Times(2, parallelism.virtual_pipeline, m);
    case Axis::kData:
      if (parallelism.sharding == Sharding::kGradients) return Times(hops, m + 1, 1);
      return 2 * hops;
    case Axis::kSharding:
      return Times(3 * hops, step.layers, m);
    case Axis::kExpert:
      return Times(step.recompute ? 6 : 4, step.expert_layers, m);
    case Axis::kExpertTensor:
      return Times((step.recompute ? 6 : 4) * hops, step.expert_layers, m);
  }
  return 0;
}

}  // namespace

std::int64_t MessagesOf(const GroupFamily& family, const std::optional<Model>& model,
                        const Parallelism& parallelism, const Shape& shape) {
  if (!model || !model->transformer) {
    return family.pattern == Pattern::kRing ? std::int64_t{family.group_size} - 1 : 1;
  }
  const Transformer& transformer = *model->transformer;
  StepCounts step;
  step.micro_batches =
      transformer.global_batch_size / (transformer.micro_batch_size * shape.data());
  step.layers = PerStage(transformer.layers, shape.pipeline());
  if (transformer.moe) step.expert_layers = PerStage(transformer.moe->layers, shape.pipeline());
  step.recompute = transformer.recomputation == Recomputation::kFull;
  return Messages(family, parallelism, step);
}

}  // namespace weft::traffic
