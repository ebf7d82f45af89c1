#pragma once

#include <cstdint>
#include <optional>

#include "operator/traffic/group_family.h"
#include "operator/traffic/shape.h"
#include "operator/traffic/spec.h"

namespace weft::traffic {

// Messages that one member of a group of n sends in a step one after the other, each waiting for
// the one before: n - 1 in an all-gather or reduce-scatter around a ring, 2 (n - 1) in an
// all-reduce, 1 in an all-to-all or between two stages. With m micro-batches and L layers per
// stage:
//
//   Tensor        8 (n - 1) L m: an all-reduce twice forward and twice backward in each layer
//   Context       3 (n - 1) L m: keys and values forward and backward, their gradients backward
//   Pipeline      2 virtualPipeline m
//   Data          2 (n - 1); with sharding Gradients (m + 1)(n - 1)
//   Sharding      3 (n - 1) L m: two all-gathers and a reduce-scatter of each layer
//   Expert        4 m per layer with experts: out and back, forward and backward
//   ExpertTensor  4 (n - 1) m per layer with experts
//
// Full recomputation repeats the forward pass: Tensor, Expert and ExpertTensor x 3/2, Context x
// 4/3. Measured bytes count as one collective: n - 1 messages around a ring, else 1.
//
// Source  Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
//         MPICH", 2005; the collectives are those of volumes.h.
std::int64_t MessagesOf(const GroupFamily& family, const std::optional<Model>& model,
                        const Parallelism& parallelism, const Shape& shape);

}  // namespace weft::traffic
