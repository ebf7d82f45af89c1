#pragma once

#include <cstdint>
#include <optional>

#include "operator/traffic/spec.h"

namespace weft::outlook {

// A job's model and parallelism, in the form that the formulas use.
struct Layout {
  traffic::Transformer model;
  traffic::Parallelism parallelism;
  std::int64_t ranks = 1;
};

// Degrees as real numbers, with the symbols that formulas use.
struct Degrees {
  double tensor = 1, context = 1, pipeline = 1, data = 1;
  double expert = 1, expert_tensor = 1;
  double virtual_pipeline = 1;
  double micro_batches = 1;  // m: micro-batches of a pipeline in a step
  double tokens = 1;         // tok: tokens of a micro-batch on a rank
  // Ranks over which the state of parameters is divided: 1 if sharding is None. Gradients always go
  // around the whole gradient group.
  double gradient_group = 1, expert_gradient_group = 1;
  double shard_group = 1, expert_shard_group = 1;
};
Degrees DegreesOf(const Layout& layout);

// The parameters and widths of a model's parts. All numbers are for the whole model.
//
//   input and output embedding  vocabulary x hidden each; tied embeddings count once. If
//          feedForwardSize is given, the parameters that the layers leave tell whether there are
//          one or two
//   experts  layers x experts x (3 gated, else 2) x hidden x width
//   layers   the rest of the parameters: attention, dense feed-forward, shared experts, norms
//
// Source   own derivation; tests compare the totals with published models.
struct Sizes {
  double embedding = 0;        // of one embedding
  double embeddings = 2;       // 1: tied
  double layers = 0;           // parameters of all layers, without experts
  double experts = 0;          // parameters of all experts
  double active = 0;           // parameters of the experts that one token uses
  double feed_forward = 0;     // width in dense layers; 0: no dense layer
  double expert_width = 0;     // feed-forward width of one expert
  double query_width = 0;      // of queries and keys: heads x head size
  double value_width = 0;      // of values: heads x head size
  double key_value_width = 0;  // of stored keys, and of stored values
  double latent = 0;           // also stored per token by latent attention

  double MatrixLayers() const { return layers + active; }  // that a token uses
};
Sizes SizesOf(const Layout& layout);

// The parameters that a model of these sizes has, whatever `parameters` says: with tied and with
// two embeddings. A feed-forward size that is not given counts as 8/3 hidden, or 4 hidden if not
// gated. `most` is absent if the width of the experts is not given.
struct Expected {
  double least = 0;
  std::optional<double> most;
};
Expected ExpectedParameters(const traffic::Transformer& model);

// FLOPs that the model needs for one step, without recomputation: six for each token and parameter
// that it is multiplied with, plus the causal half of attention.
//
//   6 T (layers + active + embedding + L (query width + value width) s / 2)
//
// with the fields of Sizes, T tokens in a step, L layers of attention, and s tokens in a sequence.
//
// Source  Chowdhery et al., PaLM, 2022, appendix B; Llama 3 also counts half of the attention.
double ModelFlops(const Layout& layout);

// Bytes of one weight or activation, and of one gradient.
double WireBytes(traffic::Precision precision);
double GradientBytes(traffic::GradientPrecision precision);

}  // namespace weft::outlook
