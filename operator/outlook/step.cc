#include "operator/outlook/step.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "operator/outlook/constants.h"
#include "operator/outlook/real.h"

namespace weft::outlook {
namespace {

using traffic::Axis;
using traffic::Recomputation;
using traffic::Sharding;

// One layer of one micro-batch on one GPU, forward and backward. Layers with experts are averaged
// with those without.
struct Layer {
  double matrices = 0, memory = 0, launch = 0;
  double tensor = 0, context = 0, expert = 0, expert_tensor = 0;

  double Compute() const { return matrices + memory + launch; }
  double Seconds() const { return Compute() + tensor + context + expert + expert_tensor; }
};

class StepModel {
 public:
  StepModel(const Layout& layout, const Accelerator& accelerator, const Calibration& calibration,
            const Network& network)
      : layout_(layout),
        model_(layout.model),
        accelerator_(accelerator),
        by_(calibration),
        network_(network),
        sizes_(SizesOf(layout)),
        d_(DegreesOf(layout)),
        hidden_(Real(model_.hidden_size)),
        layers_(Real(model_.layers)),
        with_experts_(model_.moe ? Real(model_.moe->layers) / layers_ : 0),
        wire_(WireBytes(model_.precision)),
        full_(model_.recomputation == Recomputation::kFull) {}

  Step Solve() const;

 private:
  double Efficiency(double width) const {
    return by_.matrix_efficiency * width / (width + by_.half_width);
  }
  double DenseEfficiency() const { return Efficiency(hidden_ / d_.tensor); }
  double Peak() const { return PeakRate(accelerator_, model_.precision); }
  double WidePeak() const { return std::min(Peak(), accelerator_.bf16); }  // of attention and head
  double MemoryRate() const { return kMemoryEfficiency * accelerator_.memory_bytes_per_second; }
  double Passes() const { return full_ ? 4 : 3; }
  // The part of communication that `work` seconds of concurrent computation do not hide.
  double Shown(double communication, double work) const {
    return std::max(by_.overlap_exposed * communication, communication - kHiddenShare * work);
  }

  double MatrixSeconds() const;
  double AttentionSeconds() const;  // of the forward pass
  double AttentionPasses() const;
  double VectorSeconds() const;
  Layer OneLayer() const;
  double ContextSeconds() const;
  double ExpertSeconds() const;
  double ExpertTensorSeconds() const;
  double HeadMatrices() const;
  double HeadMemory() const;
  double LaunchSeconds(double work) const;

  struct Held {
    double dense, experts;
  };
  Held HeldByRank() const;
  void AddGradients(const Layer& layer, Step& step) const;
  double OptimizerSeconds() const;
  double PoolSeconds() const;

  const Layout& layout_;
  const traffic::Transformer& model_;
  const Accelerator& accelerator_;
  const Calibration& by_;
  const Network& network_;
  const Sizes sizes_;
  const Degrees d_;
  const double hidden_, layers_, with_experts_, wire_;
  const bool full_;
};

// Matrix products of one layer, without attention's scores.
double StepModel::MatrixSeconds() const {
  const double flops = Passes() * 2 * d_.tokens / (layers_ * d_.tensor);
  double seconds = flops * sizes_.layers / (Peak() * DenseEfficiency());
  if (sizes_.active > 0) {
    const double split = layout_.parallelism.expert > 1 ? d_.expert_tensor : d_.tensor;
    const double efficiency = by_.expert_share * Efficiency(sizes_.expert_width / split);
    seconds += flops * sizes_.active / (Peak() * efficiency);
  }
  return seconds;
}

double StepModel::AttentionSeconds() const {
  const double seen = by_.attention == Attention::kFlash ? 0.5 : 1;  // the causal half, or all
  const double flops = 2 * d_.tokens * Real(model_.sequence_length) *
                       (sizes_.query_width + sizes_.value_width) * seen / d_.tensor;
  return flops / (WidePeak() * DenseEfficiency() * by_.attention_share);
}

// Flash attention computes the scores again in the backward pass; stored scores are kept or
// recomputed.
double StepModel::AttentionPasses() const {
  if (by_.attention == Attention::kFlash) return full_ ? 4.5 : 3.5;
  return model_.recomputation == Recomputation::kNone ? 3 : 4;
}

double StepModel::VectorSeconds() const {
  const double width = model_.gated_feed_forward ? 4.5 : 3;
  double values = by_.memory_passes * hidden_ / (by_.sequence_parallel ? d_.tensor : 1);
  values += (1 - with_experts_) * width * sizes_.feed_forward / d_.tensor;
  if (model_.moe) {
    const double active = Real(model_.moe->top_k) + Real(model_.moe->shared_experts);
    values += with_experts_ * active * (width * sizes_.expert_width + 2 * hidden_) / d_.tensor;
  }
  if (by_.attention == Attention::kStored) {
    values += 4 * Real(model_.sequence_length) * Real(model_.attention_heads) / d_.tensor;
  }
  return Passes() * wire_ * d_.tokens * values / MemoryRate();
}

// A ring sends keys and values on while computing with the last ones; in the backward pass it also
// sends their gradients.
double StepModel::ContextSeconds() const {
  if (d_.context <= 1) return 0;
  const std::int64_t heads =
      model_.key_value_heads > 0 ? model_.key_value_heads : model_.attention_heads;
  const double width = sizes_.key_value_width / std::min(d_.tensor, Real(heads));
  const double block = 2 * wire_ * d_.tokens * width;
  const double pass = (d_.context - 1) * PairSeconds(network_[Axis::kContext], block);
  const double work = AttentionSeconds();
  return (full_ ? 2 : 1) * Shown(pass, work) + Shown(2 * pass, 2.5 * work);
}

double StepModel::ExpertSeconds() const {
  if (!model_.moe || d_.expert <= 1) return 0;
  const double bytes = wire_ * d_.tokens / d_.tensor * Real(model_.moe->top_k) * hidden_;
  return (full_ ? 6 : 4) * by_.expert_exposed * with_experts_ *
         AllToAllSeconds(network_[Axis::kExpert], bytes);
}

double StepModel::ExpertTensorSeconds() const {
  if (!model_.moe || d_.expert <= 1 || d_.expert_tensor <= 1) return 0;
  const double bytes =
      wire_ * d_.tokens / d_.tensor * Real(model_.moe->top_k) * hidden_ * d_.expert_tensor;
  return (full_ ? 6 : 4) * with_experts_ * GatherSeconds(network_[Axis::kExpertTensor], bytes);
}

Layer StepModel::OneLayer() const {
  Layer layer;
  layer.matrices = MatrixSeconds() + AttentionPasses() * AttentionSeconds();
  layer.memory = VectorSeconds();
  layer.tensor = by_.tensor_exposed * (full_ ? 6 : 4) *
                 AllReduceSeconds(network_[Axis::kTensor], wire_ * d_.tokens * hidden_);
  if (d_.tensor > 1) layer.tensor += by_.tensor_start_seconds;
  layer.launch =
      LaunchSeconds(layer.matrices + layer.memory) + with_experts_ * by_.expert_launch_seconds;
  layer.context = ContextSeconds();
  layer.expert = ExpertSeconds();
  layer.expert_tensor = ExpertTensorSeconds();
  return layer;
}

double StepModel::LaunchSeconds(double work) const {
  return std::hypot(work, Passes() * by_.launch_seconds) - work;
}

double StepModel::HeadMatrices() const {
  constexpr std::int64_t kAligned = 8;  // values of 16 bits in one load of a tensor core
  const bool aligned = model_.vocabulary_size / layout_.parallelism.tensor % kAligned == 0;
  const double efficiency = DenseEfficiency() * (aligned ? 1 : by_.unaligned_share);
  return 6 * d_.tokens * sizes_.embedding / (d_.tensor * WidePeak() * efficiency);
}

double StepModel::HeadMemory() const {
  return kLogitTraffic * d_.tokens * Real(model_.vocabulary_size) / (d_.tensor * MemoryRate());
}

StepModel::Held StepModel::HeldByRank() const {
  const bool split = layout_.parallelism.expert > 1;
  const double ends = sizes_.embedding * (d_.pipeline > 1 ? 1 : sizes_.embeddings);
  Held held;
  held.dense = (sizes_.layers / d_.pipeline + ends) / d_.tensor;
  held.experts = sizes_.experts / d_.pipeline / (split ? d_.expert * d_.expert_tensor : d_.tensor);
  return held;
}

void StepModel::AddGradients(const Layer& layer, Step& step) const {
  const Held held = HeldByRank();
  const bool split = layout_.parallelism.expert > 1;
  const double gradient = GradientBytes(model_.gradient_precision);
  const Sharding sharding = layout_.parallelism.sharding;
  const double m = d_.micro_batches;
  const double work = layers_ / d_.pipeline * layer.Compute();  // of one micro-batch
  const auto shown = [&](double communication) {
    return by_.gradients_overlap ? Shown(communication, work) : communication;
  };
  // Seconds to send every stored parameter once, at one byte each.
  const Path& dense =
      network_[sharding == Sharding::kFull || sharding == Sharding::kHybrid ? Axis::kSharding
                                                                            : Axis::kData];
  const double once = split ? GatherSeconds(dense, held.dense) +
                                  GatherSeconds(network_.expert_gradients, held.experts)
                            : GatherSeconds(dense, held.dense + held.experts);
  double& data = step.exposed[static_cast<std::size_t>(Axis::kData)];
  double& sharded = step.exposed[static_cast<std::size_t>(Axis::kSharding)];
  switch (sharding) {
    case Sharding::kNone:
      data += shown(2 * gradient * once);
      break;
    case Sharding::kOptimizerState:
      data += shown((gradient + wire_) * once);
      break;
    case Sharding::kGradients:
      data += m * shown(gradient * once) + by_.overlap_exposed * wire_ * once;
      break;
    case Sharding::kFull:
      sharded += m * shown((2 * wire_ + gradient) * once);
      break;
    case Sharding::kHybrid:
      sharded += m * shown((2 * wire_ + gradient) * once);
      data +=
          shown(2 * gradient *
                GatherSeconds(network_[Axis::kData], (held.dense + held.experts) / d_.shard_group));
      break;
  }
}

double StepModel::OptimizerSeconds() const {
  const Held held = HeldByRank();
  const bool split = layout_.parallelism.expert > 1;
  const double parameters =
      held.dense / d_.shard_group + held.experts / (split ? d_.expert_shard_group : d_.shard_group);
  return kOptimizerBytes * parameters / MemoryRate() + PoolSeconds() + by_.step_seconds;
}

// State in pooled memory is read and written once a step.
double StepModel::PoolSeconds() const {
  if (accelerator_.pooled_bytes <= 0) return 0;
  return 2 * MemoryOn(layout_, accelerator_).pooled / accelerator_.pooled_bytes_per_second;
}

Step StepModel::Solve() const {
  const Layer layer = OneLayer();
  const double m = d_.micro_batches, p = d_.pipeline, v = d_.virtual_pipeline;
  // If p does not divide the layers, the stage with the head has fewer layers.
  const double ends = model_.layers % layout_.parallelism.pipeline == 0 ? 1 : p;
  const double head_work = HeadMatrices() + HeadMemory();
  const double head_launch = LaunchSeconds(head_work);
  const double pair =
      2 * v * PairSeconds(network_[Axis::kPipeline], wire_ * d_.tokens * hidden_ / d_.tensor);
  const double count = m * layers_ / p;  // layers that a stage runs in a step
  Step step;
  step.matrices = count * layer.matrices + m * HeadMatrices() / ends;
  step.memory = count * layer.memory + m * HeadMemory() / ends;
  step.launch = count * layer.launch + m * head_launch / ends;
  step.optimizer = OptimizerSeconds();
  step.compute = count * layer.Compute() + m * ((head_work + head_launch) / ends) + step.optimizer;
  const auto at = [&](Axis axis) -> double& {
    return step.exposed[static_cast<std::size_t>(axis)];
  };
  at(Axis::kTensor) = count * layer.tensor;
  at(Axis::kContext) = count * layer.context;
  at(Axis::kExpert) = count * layer.expert;
  at(Axis::kExpertTensor) = count * layer.expert_tensor;
  // Interleaved stages can compute on another chunk while one is being sent.
  const bool hidden = by_.gradients_overlap && v > 1;
  at(Axis::kPipeline) = m * pair * (hidden ? by_.overlap_exposed : 1);
  step.bubble = (p - 1) / v * (layers_ / p * layer.Seconds() + pair);
  AddGradients(layer, step);
  const double doublings = std::log2(std::max(Real(layout_.ranks) / kScaleLossFrom, 1.0));
  step.compute += kScaleLoss * doublings * step.Seconds();
  return step;
}

// What one part of an accelerator has of the links.
Network Shared(Network network, double share) {
  const auto slow = [&](Path& path) {
    for (Crossing& crossing : path.crossings) {
      crossing.bytes_per_second *= share;
      crossing.line_bytes_per_second *= share;
    }
  };
  for (Path& path : network.paths) slow(path);
  slow(network.expert_gradients);
  return network;
}

}  // namespace

double Step::Exposed() const { return std::accumulate(exposed.begin(), exposed.end(), 0.0); }

Step StepOf(const Layout& layout, const Accelerator& accelerator, const Calibration& calibration,
            const Network& network) {
  if (accelerator.share == 1) return StepModel(layout, accelerator, calibration, network).Solve();
  const Network shared = Shared(network, accelerator.share);
  return StepModel(layout, accelerator, calibration, shared).Solve();
}

std::string_view BoundBy(const Step& step) {
  static constexpr std::array<std::string_view, traffic::kAxisCount> kAxes = {
      "Tensor communication",   "Context communication", "Data communication",
      "Pipeline communication", "Expert communication",  "ExpertTensor communication",
      "Sharding communication"};
  std::pair<double, std::string_view> most = {step.matrices, "compute"};
  most = std::max({most,
                   {step.memory, "memory bandwidth"},
                   {step.launch, "kernel launches"},
                   {step.optimizer, "optimizer"},
                   {step.bubble, "pipeline bubble"}});
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
    most = std::max(most, {step.exposed[axis], kAxes[axis]});
  }
  return most.second;
}

}  // namespace weft::outlook
