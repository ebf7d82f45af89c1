#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "operator/outlook/accelerators.h"
#include "operator/outlook/constants.h"
#include "operator/outlook/layout.h"
#include "operator/outlook/memory.h"

namespace weft::outlook {

// The kind of software that a calibration was measured with.
enum class Software : std::uint8_t {
  kMegatron,  // tensor and pipeline parallelism, fused kernels, flash attention
  kSharded,   // gathers weights layer by layer: FSDP, ZeRO-2 and ZeRO-3
  kExperts,   // Megatron with a mixture of experts
  kEager,     // Megatron without flash attention and without overlap: never chosen for a job
};

// How well training software uses an accelerator: numbers fitted to measured steps, never derived.
// tests/bench/fidelity.sh fits them again and reports how well they predict steps that they were
// not fitted to.
struct Calibration {
  std::string_view name;       // "Hopper FP8, Megatron"
  std::string_view fitted_on;  // which rows of which table, or what is assumed

  // The jobs that it applies to: accelerators with one of these names, and the bits of a value in
  // matrix products (0: any).
  std::string_view chips;
  Software software = Software::kMegatron;
  int bits = 16;

  // Share of the peak that very wide matrix products reach, and the width that reaches half of it:
  // efficiency = matrix_efficiency width / (width + half_width), width = hidden / tensor.
  double matrix_efficiency = 0;
  double half_width = 0;
  // Attention runs at this share of the matrix products' efficiency, at the 16-bit peak.
  double attention_share = 1;
  // The output embedding's product runs at this share of the matrix products' efficiency if the
  // vocabulary, divided by the tensor degree, is not a multiple of 8: tensor cores then read single
  // values. 1: the software pads the vocabulary, as Megatron-LM does.
  double unaligned_share = 1;
  // How often a layer's activations pass through memory in the forward pass: norms, residuals,
  // casts.
  double memory_passes = 0;
  // Host time to launch one pass of a layer (forward, or half of backward); the embeddings take as
  // long as a layer.
  double launch_seconds = 0;
  // What a layer's tensor collectives take beyond their bytes, in all passes.
  double tensor_start_seconds = 0;
  // Added to each step: zeroing, clipping, the host.
  double step_seconds = kStepOverheadSeconds;
  // What a layer with experts adds to the host time, once for all passes; the experts' products run
  // at this share of the dense products' efficiency.
  double expert_launch_seconds = 0;
  double expert_share = 1;
  // Shares of tensor and of expert communication that computation does not hide.
  double tensor_exposed = 1;
  double expert_exposed = 1;
  // Share of gradient and weight communication that always counts: it slows concurrent kernels.
  double overlap_exposed = 0.1;

  Attention attention = Attention::kFlash;
  bool sequence_parallel = true;
  bool gradients_overlap = true;  // gradients overlap with the backward pass

  // The prediction is off by at most this share for nine of ten measured steps.
  double error = 0.3;
};

std::span<const Calibration> KnownCalibrations();
// The row of the table with that name. Precondition: there is one.
const Calibration& FindCalibration(std::string_view name);

// The row for a job's accelerator, precision and software. If none was fitted to measurements, the
// assumed row of the nearest kind, and finally "Assumed".
const Calibration& CalibrationFor(const Accelerator& accelerator, const Layout& layout);

}  // namespace weft::outlook
