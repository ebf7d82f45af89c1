#include "operator/traffic/shape.h"

#include <algorithm>

namespace weft::traffic {

Shape::Shape(const Parallelism& parallelism, std::uint32_t ranks)
    : ranks_(ranks),
      expert_(static_cast<std::uint32_t>(parallelism.expert)),
      expert_tensor_(static_cast<std::uint32_t>(
          parallelism.expert_tensor > 0 ? parallelism.expert_tensor : parallelism.tensor)) {
  const auto fixed =
      static_cast<std::uint32_t>(parallelism.tensor * parallelism.context * parallelism.pipeline);
  std::uint32_t stride = 1;
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    const Axis axis = parallelism.rank_order[i];
    std::uint32_t degree = ranks / fixed;
    if (axis == Axis::kTensor) degree = static_cast<std::uint32_t>(parallelism.tensor);
    if (axis == Axis::kContext) degree = static_cast<std::uint32_t>(parallelism.context);
    if (axis == Axis::kPipeline) degree = static_cast<std::uint32_t>(parallelism.pipeline);
    digits_[i] = {axis, degree, stride};
    stride *= degree;
  }
}

std::uint32_t Shape::Degree(Axis axis) const {
  for (const Digit& digit : digits_) {
    if (digit.axis == axis) return digit.degree;
  }
  return 1;
}

// All sums of strides over the digits inside (or outside) `axes`. They ascend, because strides nest
// and the faster digit is counted first.
std::vector<std::uint32_t> Shape::Offsets(std::span<const Axis> axes, bool inside) const {
  std::vector<std::uint32_t> offsets = {0};
  for (const Digit& digit : digits_) {
    const bool named = std::find(axes.begin(), axes.end(), digit.axis) != axes.end();
    if (named != inside) continue;
    const std::size_t run = offsets.size();
    offsets.reserve(run * digit.degree);
    for (std::uint32_t k = 1; k < digit.degree; ++k) {
      for (std::size_t i = 0; i < run; ++i) offsets.push_back(offsets[i] + k * digit.stride);
    }
  }
  return offsets;
}

Ranks Shape::Groups(std::span<const Axis> axes) const {
  const std::vector<std::uint32_t> members = Offsets(axes, true);
  if (members.size() == 1) return {};
  Ranks groups(ranks_);
  RankIndex* out = groups.data();
  for (std::uint32_t base : Offsets(axes, false)) {
    for (std::uint32_t offset : members) *out++ = RankIndex(base + offset);
  }
  return groups;
}

Ranks Shape::StageGroups(std::uint32_t count, std::uint32_t stride) const {
  if (count == 1) return {};
  const std::uint32_t block = count * stride;
  static constexpr Axis kStage[] = {Axis::kPipeline};
  const std::vector<std::uint32_t> of_stage = Offsets(kStage, false);
  Ranks groups;
  groups.reserve(ranks_);
  for (std::uint32_t base : Offsets(kStage, true)) {
    for (std::uint32_t start = 0; start < of_stage.size(); start += block) {
      for (std::uint32_t first = 0; first < stride; ++first) {
        for (std::uint32_t k = 0; k < count; ++k) {
          groups.emplace_back(base + of_stage[start + first + k * stride]);
        }
      }
    }
  }
  return groups;
}

Ranks Shape::ExpertGroups() const { return StageGroups(expert_, expert_tensor_); }

Ranks Shape::ExpertTensorGroups() const { return StageGroups(expert_tensor_, 1); }

Ranks Shape::ExpertGradientGroups() const {
  return StageGroups(expert_gradient_group(), expert_ * expert_tensor_);
}

}  // namespace weft::traffic
