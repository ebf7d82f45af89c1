#pragma once

#include <array>
#include <string_view>

#include "operator/outlook/accelerators.h"
#include "operator/outlook/calibration.h"
#include "operator/outlook/layout.h"
#include "operator/outlook/network.h"

namespace weft::outlook {

// The seconds of one optimizer step, as parts that add up to the step.
struct Step {
  double compute = 0;  // kernels, launches, optimizer, and stragglers in large jobs
  double bubble = 0;   // pipeline stages that wait for the first and the last micro-batch
  std::array<double, traffic::kAxisCount> exposed{};  // communication that nothing hides, by axis

  // The parts of `compute`, to find what bounds the step.
  double matrices = 0;   // matrix products and attention
  double memory = 0;     // kernels that only move memory
  double launch = 0;     // host time that kernels do not hide
  double optimizer = 0;  // with a step's fixed cost

  double Exposed() const;
  double Seconds() const { return compute + bubble + Exposed(); }
};

// How long one step takes if nothing else slows it down.
//
//   t_layer = hypot(t_mm + t_vec, t_host) + t_tensor + t_context + t_expert
//   t_host  the host's time to launch the kernels: 3 passes, or 4 if the forward pass is repeated.
//           Some kernels wait for the host, others for the GPU: neither sum nor maximum
//   t_mm    a layer's matrix products and attention on one GPU, at the calibration's efficiency
//   t_vec   a layer's other memory traffic, at 0.8 of the memory bandwidth
//   stage   layers/p t_layer + t_head (the output embedding, launched as a layer) + t_p2p (its
//           messages)
//   step    m stage + (p - 1)/v (stage - t_head) + exposed gradients + optimizer + 12 ms (or the
//           calibration's step_seconds)
//
// Gradients and sharded weights are exposed as far as they take longer than the compute that they
// overlap with. Stages count as balanced even if p does not divide the layers.
//
// Source  Narayanan et al., SC21, sections 2 and 3; Korthikanti et al., 2022; Zhao et al., "PyTorch
//         FSDP", 2023. operator/docs/outlook.md says how well it predicts.
// Cost    O(links of the paths).
Step StepOf(const Layout& layout, const Accelerator& accelerator, const Calibration& calibration,
            const Network& network);

// The part that takes most of the step: "compute", "memory bandwidth", "kernel launches",
// "optimizer", "pipeline bubble", or "Tensor communication" and the like.
std::string_view BoundBy(const Step& step);

}  // namespace weft::outlook
