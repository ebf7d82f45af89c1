#pragma once

#include "operator/traffic/ratio.h"
#include "operator/traffic/shape.h"
#include "operator/traffic/spec.h"

namespace weft::traffic {

// The exact bytes that one rank sends in one optimizer step, by a model's layers, widths and
// degrees.
//
// Source  Narayanan et al., "Efficient Large-Scale Language Model Training on GPU
//         Clusters Using Megatron-LM", SC21, section 3; Rajbhandari et al., "ZeRO", 2020,
//         section 7; Korthikanti et al., "Reducing Activation Recomputation", 2022.
class Volumes {
 public:
  Volumes(const Transformer& model, const Parallelism& parallelism, const Shape& shape);

  Ratio Tensor() const;    // to the next rank of the ring
  Ratio Context() const;   // to the next rank of the ring
  Ratio Boundary() const;  // one activation between two stages, one way
  Ratio ExpertPerPeer() const;
  Ratio ExpertTensor() const;  // to the next rank of the ring

  // DenseParameters and ExpertParameters count the parameters of one rank. Gradients gives the
  // bytes of their gradients to the next rank of a ring of `ranks`, by the job's sharding.
  Ratio DenseParameters() const;
  Ratio ExpertParameters() const;
  Ratio Gradients(Ratio parameters, std::uint32_t ranks) const;
  // Hybrid sharding only: inside a shard group, and between the groups.
  Ratio Inside(Ratio parameters, std::uint32_t group) const;
  Ratio Across(Ratio parameters, std::uint32_t group, std::uint32_t groups) const;

 private:
  Ratio Tokens() const;  // tokens of one micro-batch on one rank
  Ratio AllExperts() const;

  const Transformer& model_;
  const Parallelism& parallelism_;
  const Shape& shape_;
  std::int64_t wire_;      // bytes of a weight or activation
  std::int64_t gradient_;  // bytes of a gradient
  std::int64_t micro_batches_;
};

}  // namespace weft::traffic
