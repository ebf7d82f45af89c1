#pragma once

#include <string_view>

#include "operator/outlook/accelerators.h"
#include "operator/outlook/layout.h"

namespace weft::outlook {

// Bytes of memory that training needs on the GPU that needs most.
struct Memory {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;    // Adam's two moments, and the FP32 copy of narrower weights
  double activations = 0;  // those kept for the backward pass, and the logits
  double other = 0;  // context, communication buffers, temporaries, unsharded layers, fragmentation
  double pooled = 0;  // state of the optimizer that is in pooled memory, not on the GPU

  double Total() const { return weights + gradients + optimizer + activations + other; }
};

// Whether the training software stores the attention matrix.
enum class Attention { kFlash, kStored };

// Memory per GPU of the first or the last pipeline stage, whichever holds more.
//
// How    A parameter needs the wire bytes of its weight, the bytes of its gradient, and 12 for the
//        optimizer (8 for FP32 and TF32, whose weights are the FP32 copy). OptimizerState divides
//        the optimizer's bytes by the sharding group, Gradients also the gradient's, Full and
//        Hybrid also the weight's. With Full or Hybrid and FP32 gradients, the weight is the FP32
//        copy: 4 bytes, and 8 for the optimizer. The first stage has the input embedding, the last
//        the output embedding and the logits. For each token a layer keeps, in bytes of 16-bit
//        values, divided by the tensor degree (sequence parallelism):
//          attention     2 norm input + 2 input + 2 q + 2 (k + v) + 2 output
//          feed-forward  2 norm input + 2 input + 6 f gated, else 4 f and 2 for dropout masks
//          experts       as feed-forward, with topK tokens for each token
//        The sum is 34 h for GPT (f = 4 h) and 33.5 h for Llama 3 70B. Stored attention adds 5
//        heads s, unless recomputed. Full recomputation keeps only each layer's input (2 h) and one
//        layer's working set. Stage i of p keeps (2 (p - i - 1) + (v - 1) p + 1) / v micro-batches,
//        at most m; without virtual stages p - i.
// Source Rajbhandari et al., "ZeRO", 2020, section 3; Korthikanti et al., "Reducing Activation
//        Recomputation", 2022, table 2 and section 4; Narayanan et al., SC21, section 2.2 (stages).
//        The constants of `other` are in constants.h.
Memory MemoryPerGPU(const Layout& layout, Attention attention = Attention::kFlash);

// The same on one accelerator. The part of the optimizer's state that does not fit is in pooled
// memory, up to the accelerator's share of it.
Memory MemoryOn(const Layout& layout, const Accelerator& accelerator);

// The memory that training software can use: a share of what the driver reports.
double UsableMemory(const Accelerator& accelerator);

// Above this share of the usable memory a layout is tight: predictions are right to about a tenth
// (operator/docs/outlook.md), and the largest ones are the first to fail.
inline constexpr double kTightMemory = 0.95;

// The largest part: "weights", "gradients", "optimizer", "activations" or "other".
std::string_view LargestPart(const Memory& memory);

}  // namespace weft::outlook
