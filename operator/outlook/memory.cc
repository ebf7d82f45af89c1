#include "operator/outlook/memory.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "operator/outlook/constants.h"
#include "operator/outlook/real.h"

namespace weft::outlook {
namespace {

using traffic::Recomputation;
using traffic::Sharding;

// The parameters of one rank of one stage before sharding.
struct Held {
  double dense = 0, experts = 0;
};

Held HeldBy(const Layout& layout, const Sizes& sizes, const Degrees& d) {
  // With several stages, the first has the input embedding, and the last the output embedding or
  // its copy.
  double ends = sizes.embedding;
  if (d.pipeline == 1) ends *= sizes.embeddings;
  Held held;
  held.dense = (sizes.layers / d.pipeline + ends) / d.tensor;
  const bool split = layout.parallelism.expert > 1;
  const double spread = split ? d.expert * d.expert_tensor : d.tensor;
  held.experts = sizes.experts / (spread * d.pipeline);
  return held;
}

void AddState(const Layout& layout, const Held& held, const Degrees& d, Memory& memory) {
  const Sharding sharding = layout.parallelism.sharding;
  const bool full = sharding == Sharding::kFull || sharding == Sharding::kHybrid;
  const double gradient = GradientBytes(layout.model.gradient_precision);
  // PyTorch's FSDP shards the FP32 copy itself and keeps no other copy.
  const bool one_copy = full && gradient == kMasterBytes;
  const double wire = one_copy ? kMasterBytes : WireBytes(layout.model.precision);
  const double optimizer = kMomentBytes + (wire < kMasterBytes ? kMasterBytes : 0);
  const bool split = layout.parallelism.expert > 1;
  for (const auto& [parameters, group] :
       {std::pair(held.dense, d.shard_group),
        std::pair(held.experts, split ? d.expert_shard_group : d.shard_group)}) {
    memory.weights += parameters * wire / (full ? group : 1);
    memory.gradients +=
        parameters * gradient / (full || sharding == Sharding::kGradients ? group : 1);
    memory.optimizer += parameters * optimizer / group;
  }
}

// Bytes that one layer keeps for one token, before the tensor degree divides them: for attention,
// for a dense feed-forward, for experts.
struct Kept {
  double attention = 0, dense = 0, experts = 0;
};

Kept KeptOf(const Layout& layout, const Sizes& sizes, Attention attention) {
  const traffic::Transformer& model = layout.model;
  const double hidden = Real(model.hidden_size);
  const double wire = WireBytes(model.precision);
  Kept kept;
  const bool latent = model.key_value_latent_size.has_value();
  const double keys = latent ? sizes.query_width : sizes.key_value_width;
  const double values = latent ? sizes.value_width : sizes.key_value_width;
  kept.attention =
      wire * (2 * hidden + sizes.query_width + keys + values + sizes.value_width + sizes.latent);
  if (attention == Attention::kStored && model.recomputation == Recomputation::kNone) {
    kept.attention += 5 * Real(model.attention_heads) * Real(model.sequence_length);
  }
  const double width = (model.gated_feed_forward ? 3 : 2) * wire;
  const double masks = model.gated_feed_forward ? 0 : 2 * hidden;
  kept.dense = 2 * wire * hidden + masks + width * sizes.feed_forward;
  if (model.moe) {
    const double shared = Real(model.moe->shared_experts);
    kept.experts = 2 * wire * hidden + width * sizes.expert_width * shared +
                   Real(model.moe->top_k) * (wire * hidden + width * sizes.expert_width);
  }
  return kept;
}

// How many micro-batches' activations stage i of p keeps at once.
double InFlight(const Degrees& d, double stage) {
  const double v = d.virtual_pipeline;
  const double warm = 2 * (d.pipeline - stage - 1) + (v - 1) * d.pipeline + 1;
  const double chunks = v > 1 ? warm : d.pipeline - stage;
  return std::min(chunks / v, d.micro_batches);
}

struct Stage {
  double kept = 0;     // of all micro-batches in flight
  double working = 0;  // one layer, one micro-batch
};

Stage ActivationsOf(const Layout& layout, const Kept& kept, const Degrees& d, double stage) {
  const traffic::Transformer& model = layout.model;
  const double layers = Real(model.layers);
  const double with_experts = model.moe ? Real(model.moe->layers) / layers : 0;
  const double feed = kept.dense * (1 - with_experts) + kept.experts * with_experts;
  const double each = d.tokens / d.tensor;
  Stage out;
  const double widest = std::max(with_experts < 1 ? kept.dense : 0, kept.experts);
  out.working = each * (kept.attention + widest);
  const bool full = model.recomputation == Recomputation::kFull;
  const double layer = full ? each * WireBytes(model.precision) * Real(model.hidden_size)
                            : each * (kept.attention + feed);
  out.kept = InFlight(d, stage) * layer * layers / d.pipeline + (full ? out.working : 0);
  return out;
}

// Temporaries, and the memory of sharded parameters while they are gathered.
double Transient(const Layout& layout, const Sizes& sizes, const Degrees& d, double working) {
  const Sharding sharding = layout.parallelism.sharding;
  double bytes = kContextBytes;
  // The largest temporary is the gradient of the widest activation.
  bytes += working / 4;
  if (sharding != Sharding::kFull && sharding != Sharding::kHybrid) return bytes;
  const double layers = Real(layout.model.layers);
  const bool split = layout.parallelism.expert > 1;
  const double experts = sizes.experts / (split ? d.expert * d.expert_tensor : d.tensor);
  const double unit = sizes.layers / d.tensor / layers + experts / layers;
  return bytes + unit * (kGatheredUnits * WireBytes(layout.model.precision) +
                         GradientBytes(layout.model.gradient_precision));
}

Memory StageMemory(const Layout& layout, Attention attention, bool last) {
  const Sizes sizes = SizesOf(layout);
  const Degrees d = DegreesOf(layout);
  Memory memory;
  AddState(layout, HeldBy(layout, sizes, d), d, memory);
  const Kept kept = KeptOf(layout, sizes, attention);
  const Stage stage = ActivationsOf(layout, kept, d, last ? d.pipeline - 1 : 0);
  memory.activations = stage.kept;
  if (last) {
    memory.activations += kLogitBytes * d.tokens * Real(layout.model.vocabulary_size) / d.tensor;
  }
  memory.other = Transient(layout, sizes, d, stage.working) + kFragmentation * memory.activations;
  return memory;
}

}  // namespace

Memory MemoryPerGPU(const Layout& layout, Attention attention) {
  const Memory last = StageMemory(layout, attention, true);
  if (layout.parallelism.pipeline == 1) return last;
  const Memory first = StageMemory(layout, attention, false);
  return first.Total() > last.Total() ? first : last;
}

Memory MemoryOn(const Layout& layout, const Accelerator& accelerator) {
  Memory memory = MemoryPerGPU(layout);
  const double excess = memory.Total() - UsableMemory(accelerator);
  if (excess <= 0) return memory;
  // One byte more than necessary, so that no rounded rest stays on the GPU.
  memory.pooled = std::min({std::ceil(excess) + 1, memory.optimizer, accelerator.pooled_bytes});
  memory.optimizer -= memory.pooled;
  return memory;
}

double UsableMemory(const Accelerator& accelerator) {
  return kUsableMemory * accelerator.memory_bytes;
}

std::string_view LargestPart(const Memory& memory) {
  const std::array<std::pair<double, std::string_view>, 5> parts = {
      {{memory.weights, "weights"},
       {memory.gradients, "gradients"},
       {memory.optimizer, "optimizer"},
       {memory.activations, "activations"},
       {memory.other, "other"}}};
  return std::max_element(parts.begin(), parts.end())->second;
}

}  // namespace weft::outlook
