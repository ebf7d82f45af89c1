#pragma once

#include <cstdint>

#include "operator/traffic/spec.h"

namespace weft::outlook {

// A job's model and how it is spread, as the formulas take them.
struct Layout {
  traffic::Transformer model;
  traffic::Parallelism parallelism;
  std::int64_t ranks = 1;
  // Latent attention: values of one token that keys and values of all heads are made from; 0: none.
  std::int64_t latent_size = 0;
};

// Degrees as real numbers, under the names of the formulas' symbols.
struct Degrees {
  double tensor = 1, context = 1, pipeline = 1, data = 1;
  double expert = 1, expert_tensor = 1;
  double virtual_pipeline = 1;
  double micro_batches = 1;  // m: of one pipeline, in one step
  double tokens = 1;         // tok: of one micro-batch on one rank
  // Ranks over which the parameters' state is spread: 1 where sharding is None. Gradients go around
  // the whole group whatever is sharded.
  double gradient_group = 1, expert_gradient_group = 1;
  double shard_group = 1, expert_shard_group = 1;
};
Degrees DegreesOf(const Layout& layout);

// Where a model's parameters sit and how wide its layers are. All numbers of the whole model.
//
//   input and output embedding  vocabulary x hidden each; one and the same where they are tied,
//          which shows where feedForwardSize is given: what the layers leave of N is one, not two
//   experts  N_x of DESIGN section 4: layers x experts x (3 gated, else 2) x hidden x width
//   layers   the rest: attention, dense feed-forward, shared experts, norms
//
// Source   own derivation; the totals are those of the published models (tests).
struct Sizes {
  double embedding = 0;        // of one of the two
  double embeddings = 2;       // 1: tied
  double layers = 0;           // parameters of all layers but the experts'
  double experts = 0;          // of all experts
  double active = 0;           // of the experts, what one token passes through
  double feed_forward = 0;     // width of a dense layer's feed-forward; 0: no layer has one
  double expert_width = 0;     // of one expert's
  double query_width = 0;      // heads x size of a head, of queries and keys
  double value_width = 0;      // heads x size of a head, of values
  double key_value_width = 0;  // of keys and values as they are held, one of the two
  double latent = 0;           // values of a token that latent attention holds beside them

  double MatrixLayers() const { return layers + active; }  // a token's, in all layers
};
Sizes SizesOf(const Layout& layout);

// Multiply-adds x 2 of one step that the model needs, whatever is computed twice: six for each
// parameter that a token is multiplied with, and attention at its causal half.
//
//   6 (layers + active + embedding) T + 6 layers (query width + value width) / 2 ... s T
//
// Source  Chowdhery et al., PaLM, 2022, appendix B; half of the attention as Llama 3 counts it.
double ModelFlops(const Layout& layout);

// Bytes of one weight or activation, and of one gradient.
double WireBytes(traffic::Precision precision);
double GradientBytes(traffic::GradientPrecision precision);

}  // namespace weft::outlook
