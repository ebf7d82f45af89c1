#pragma once

#include <cstdint>
#include <vector>

#include "operator/outlook/layout.h"

namespace weft::outlook {

// Layouts of one model on `ranks` accelerators, of which `per_domain` are linked inside a node or a
// scale-up domain.
//
//   tensor        powers of two up to per_domain
//   context       powers of two that leave each rank at least 4,096 tokens of a sequence
//   pipeline      divisors of the layers, and powers of two
//   data          what is left of the world
//   expert        powers of two, experts whole (expertTensor 1)
//   sharding      None, OptimizerState, Full, and Hybrid inside per_domain
//   of a shape    virtual pipeline 1, 2, 4 and 8; micro-batches of 1, 2, 4 and 8 sequences;
//                 recomputation None and Full
//
// of these, the layouts that pass the rules of refusals.h, except rules that the model itself
// breaks. Every layout passes traffic::CheckShape. The other fields are the model's.

// One layout for each shape, with a micro-batch of one sequence, Full recomputation and no virtual
// pipeline. The variants of a shape need at least its memory per GPU, except that recomputation
// None may need less if a stage is a single layer.
//
// Cost  O(shapes), some hundred.
std::vector<Layout> ShapesOf(const traffic::Transformer& model, std::int64_t ranks,
                             std::int64_t per_domain);

// All layouts of the shape.
std::vector<Layout> VariantsOf(const Layout& shape);

}  // namespace weft::outlook
