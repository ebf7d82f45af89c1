#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "operator/outlook/accelerators.h"
#include "operator/outlook/layout.h"
#include "operator/outlook/memory.h"

namespace weft::outlook {

// The kind of software that a calibration was measured with.
enum class Software : std::uint8_t {
  kMegatron,  // tensor and pipeline parallelism, fused kernels, flash attention
  kSharded,   // weights gathered layer by layer: FSDP, ZeRO-2 and ZeRO-3
  kExperts,   // Megatron with a mixture of experts
  kEager,     // Megatron without flash attention and without overlap: never chosen for a job
};

// What training software makes of an accelerator: numbers fitted to measured steps, never derived.
// tests/bench/fidelity.sh fits them again and says how well they predict what they have not seen.
struct Calibration {
  std::string_view name;       // "Hopper FP8, Megatron"
  std::string_view fitted_on;  // which rows of which table, or what is assumed

  // Which jobs it is for: accelerators whose name is one of these words, bits of a matrix product's
  // values (0: any).
  std::string_view chips;
  Software software = Software::kMegatron;
  int bits = 16;

  // Share of the peak that wide matrix products reach, and the width at which half of that is left:
  // efficiency = matrix_efficiency width / (width + half_width), width = hidden / tensor.
  double matrix_efficiency = 0;
  double half_width = 0;
  // Attention runs at this share of the matrix products' efficiency, at the 16-bit peak.
  double attention_share = 1;
  // The output embedding's product runs at this share of it.
  double head_share = 1;
  // Times that a layer's activations pass through memory, forward: norms, residuals, casts.
  double memory_passes = 0;
  // What the host takes to launch one layer's pass (forward, or half of backward), and what a
  // tensor group's collectives add to the layer, once for all passes.
  double launch_seconds = 0;
  double tensor_launch_seconds = 0;
  // What a layer with experts adds, once for all passes, and the share of the dense products'
  // efficiency that the experts' reach.
  double expert_launch_seconds = 0;
  double expert_share = 1;
  // Shares of tensor and expert communication that no computation hides.
  double tensor_exposed = 1;
  double expert_exposed = 1;
  // Of gradients and gathered weights, whatever they overlap with: they slow the kernels beside.
  double overlap_exposed = 0.1;

  Attention attention = Attention::kFlash;
  bool sequence_parallel = true;
  bool gradients_overlap = true;  // with the backward pass

  // Nine of ten measured steps lie within this share of the predicted one.
  double error = 0.3;
};

std::span<const Calibration> KnownCalibrations();
// A row of the table by its name.  Precondition: there is one.
const Calibration& FindCalibration(std::string_view name);

// The row for a job: of its accelerator, precision and software; where no measurement stands behind
// them, the assumed row of the nearest kind, and at last "Assumed".
const Calibration& CalibrationFor(const Accelerator& accelerator, const Layout& layout);

}  // namespace weft::outlook
