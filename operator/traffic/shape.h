#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "operator/traffic/ranks.h"
#include "operator/traffic/spec.h"

namespace weft::traffic {

// Degrees and strides of one job's axes: how the axes number the ranks.
class Shape {
 public:
  Shape(const Parallelism& parallelism, std::uint32_t ranks);

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t tensor() const { return Degree(Axis::kTensor); }
  std::uint32_t context() const { return Degree(Axis::kContext); }
  std::uint32_t data() const { return Degree(Axis::kData); }
  std::uint32_t pipeline() const { return Degree(Axis::kPipeline); }
  std::uint32_t expert() const { return expert_; }
  std::uint32_t expert_tensor() const { return expert_tensor_; }
  std::uint32_t stage() const { return ranks_ / pipeline(); }  // ranks of one pipeline stage
  // How many ranks reduce the gradients of one dense parameter, and of one expert.
  std::uint32_t gradient_group() const { return data() * context(); }
  std::uint32_t expert_gradient_group() const { return stage() / (expert_ * expert_tensor_); }

  // Groups of ranks that differ only in these axes (of the four in rankOrder), group-major. Each
  // group ascends; groups are in order of their least rank. Here and below the result is empty if a
  // group would be a single rank.
  Ranks Groups(std::span<const Axis> axes) const;
  // Expert groups inside one stage: a block of expert x expertTensor consecutive ranks has one copy
  // of the experts.
  Ranks ExpertGroups() const;
  Ranks ExpertTensorGroups() const;
  Ranks ExpertGradientGroups() const;

 private:
  struct Digit {
    Axis axis;
    std::uint32_t degree;
    std::uint32_t stride;
  };
  std::uint32_t Degree(Axis axis) const;
  std::vector<std::uint32_t> Offsets(std::span<const Axis> axes, bool inside) const;
  // Divides each block of count x stride ranks of a stage into groups of `count` members, `stride`
  // apart.
  Ranks StageGroups(std::uint32_t count, std::uint32_t stride) const;

  std::uint32_t ranks_;
  std::array<Digit, 4> digits_;  // the fastest digit first
  std::uint32_t expert_;
  std::uint32_t expert_tensor_;
};

}  // namespace weft::traffic
