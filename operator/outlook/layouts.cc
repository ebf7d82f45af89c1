#include "operator/outlook/layouts.h"

#include <algorithm>

#include "operator/outlook/refusals.h"

namespace weft::outlook {
namespace {

using traffic::Recomputation;
using traffic::Sharding;

// The fewest tokens of a sequence in one rank's part. With fewer, attention is too short to hide
// the messages of its ring. Assumption.
constexpr std::int64_t kLeastTokens = 4096;
constexpr std::int64_t kMostMicroBatch = 8;
constexpr std::int64_t kMostVirtual = 8;

// 1, 2, 4, ... up to `most` that divide `whole`.
std::vector<std::int64_t> PowersThatDivide(std::int64_t whole, std::int64_t most) {
  std::vector<std::int64_t> powers;
  for (std::int64_t power = 1; power <= most && whole % power == 0; power *= 2) {
    powers.push_back(power);
  }
  return powers;
}

class Shapes {
 public:
  Shapes(const traffic::Transformer& model, std::int64_t ranks, std::int64_t per_domain)
      : model_(model), ranks_(ranks), per_domain_(per_domain), by_model_(BrokenByModel(model)) {}

  std::vector<Layout> Run() {
    const std::int64_t contexts = std::max<std::int64_t>(model_.sequence_length / kLeastTokens, 1);
    for (const std::int64_t tensor : PowersThatDivide(model_.attention_heads, per_domain_)) {
      for (const std::int64_t context : PowersThatDivide(model_.sequence_length, contexts)) {
        for (std::int64_t pipeline = 1; pipeline <= model_.layers; ++pipeline) {
          const bool power = (pipeline & (pipeline - 1)) == 0;
          if (power || model_.layers % pipeline == 0) AddDegrees(tensor, context, pipeline);
        }
      }
    }
    return std::move(shapes_);
  }

 private:
  void AddDegrees(std::int64_t tensor, std::int64_t context, std::int64_t pipeline) {
    const std::int64_t together = tensor * context * pipeline;
    if (ranks_ % together != 0) return;
    if (model_.global_batch_size % (ranks_ / together) != 0) return;
    Layout shape;
    shape.model = model_;
    shape.model.micro_batch_size = 1;
    shape.model.recomputation = Recomputation::kFull;
    shape.ranks = ranks_;
    shape.parallelism.tensor = tensor;
    shape.parallelism.context = context;
    shape.parallelism.pipeline = pipeline;
    const auto& moe = shape.model.moe;
    if (!moe) return AddSharding(shape);
    const std::int64_t stage = ranks_ / pipeline;
    for (const std::int64_t expert : PowersThatDivide(moe->experts, stage)) {
      if (stage % expert != 0) break;
      shape.parallelism.expert = expert;
      shape.parallelism.expert_tensor = expert > 1 ? 1 : 0;
      AddSharding(shape);
    }
  }

  void AddSharding(const Layout& shape) {
    const traffic::Parallelism& p = shape.parallelism;
    Add(shape, Sharding::kNone);
    const std::int64_t group = shape.ranks / (p.tensor * p.pipeline);
    if (group == 1) return;
    Add(shape, Sharding::kOptimizerState);
    Add(shape, Sharding::kFull);
    // The members of the gradient group that share a node or scale-up domain.
    const std::int64_t near = per_domain_ / p.tensor;
    if (near <= 1 || near >= group || group % near != 0) return;
    if (p.expert > 1 && (shape.ranks / p.expert) % near != 0) return;
    Add(shape, Sharding::kHybrid, near);
  }

  void Add(Layout shape, Sharding sharding, std::optional<std::int64_t> group = std::nullopt) {
    shape.parallelism.sharding = sharding;
    shape.parallelism.shard_group_size = group;
    if ((BrokenRules(shape) & ~by_model_) != 0) return;
    shapes_.push_back(std::move(shape));
  }

  const traffic::Transformer& model_;
  const std::int64_t ranks_, per_domain_;
  const Rules by_model_;
  std::vector<Layout> shapes_;
};

}  // namespace

std::vector<Layout> ShapesOf(const traffic::Transformer& model, std::int64_t ranks,
                             std::int64_t per_domain) {
  return Shapes(model, ranks, per_domain).Run();
}

std::vector<Layout> VariantsOf(const Layout& shape) {
  std::vector<Layout> variants;
  const traffic::Parallelism& p = shape.parallelism;
  const std::int64_t data = shape.ranks / (p.tensor * p.context * p.pipeline);
  const std::int64_t sequences = shape.model.global_batch_size / data;  // of one pipeline
  const Rules by_model = BrokenByModel(shape.model);
  for (const std::int64_t size : PowersThatDivide(sequences, kMostMicroBatch)) {
    for (std::int64_t chunks = 1; chunks <= kMostVirtual; chunks *= 2) {
      Layout one = shape;
      one.model.micro_batch_size = size;
      one.parallelism.virtual_pipeline = chunks;
      if ((BrokenRules(one) & ~by_model) != 0) continue;
      for (const Recomputation recomputation : {Recomputation::kNone, Recomputation::kFull}) {
        one.model.recomputation = recomputation;
        variants.push_back(one);
      }
    }
  }
  return variants;
}

}  // namespace weft::outlook
