#pragma once

#include <array>
#include <string_view>

#include "operator/outlook/accelerators.h"
#include "operator/outlook/calibration.h"
#include "operator/outlook/layout.h"
#include "operator/outlook/network.h"

namespace weft::outlook {

// Seconds of one optimizer step. The parts add up to it.
struct Step {
  double compute = 0;  // kernels and launches, optimizer, what large jobs lose to stragglers
  double bubble = 0;   // pipeline stages that wait for the first and the last micro-batch
  std::array<double, traffic::kAxisCount> exposed{};  // communication that nothing hides, by axis

  // Of `compute`, for what bounds the step.
  double matrices = 0;   // matrix products and attention, at their efficiency
  double memory = 0;     // kernels that only move memory
  double launch = 0;     // the host, beyond the kernels
  double optimizer = 0;  // and a step's fixed cost

  double Exposed() const;
  double Seconds() const { return compute + bubble + Exposed(); }
};

// How long one step takes where nothing else slows it.
//
//   t_layer = max(t_mm + t_vec, passes q) + t_tensor + t_context + t_expert, passes = 3, or 4 where
//             the forward is run again
//   t_mm    matrix products of a layer on one GPU at the calibration's efficiency, attention beside
//   t_vec   what a layer moves through memory besides, at 0.8 of the memory's bandwidth
//   stage   layers/p t_layer + t_head (the output embedding) + t_p2p
//   step    m stage + (p - 1)/v (stage - t_head) + exposed gradients + optimizer + 12 ms
//
// Gradients and sharded weights are exposed where they outlast what they overlap with. Stages are
// balanced where p does not divide the layers.
//
// Source  Narayanan et al., SC21, sections 2 and 3; Korthikanti et al., 2022; Zhao et al., "PyTorch
//         FSDP", 2023. operator/docs/outlook.md has how well it predicts.
// Cost    O(links of the paths).
Step StepOf(const Layout& layout, const Accelerator& accelerator, const Calibration& calibration,
            const Network& network);

// What takes most of the step: "compute", "memory bandwidth", "kernel launches", "optimizer",
// "pipeline bubble", or "Tensor communication" and the like.
std::string_view BoundBy(const Step& step);

}  // namespace weft::outlook
