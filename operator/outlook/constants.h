#pragma once

namespace weft::outlook {

// Every number of the formulas that is the same for all accelerators and releases, with where it
// comes from. What was fitted to measurements stands in calibration.cc, what a chip does in
// accelerators.cc.

// --- Memory

// Share of the memory that the driver reports which training software can use: the rest is held by
// the driver, ECC and what the allocator cannot give out. Assumption (operator/docs/outlook.md).
inline constexpr double kUsableMemory = 0.94;
// CUDA context and the buffers of the communication library. Assumption, of 1.5 to 3 GB observed.
inline constexpr double kContextBytes = 1.5e9;
// Of the activations, lost between blocks of the caching allocator. Assumption.
inline constexpr double kFragmentation = 0.03;
// Units that a sharded model gathers at a time: the one in use and the next (prefetch).
// Source  Zhao et al., "PyTorch FSDP", 2023, section 3.3.
inline constexpr double kGatheredUnits = 2;
// Adam's two moments in FP32, and the FP32 copy of the weights.
// Source  Rajbhandari et al., "ZeRO", 2020, section 3.1.
inline constexpr double kMomentBytes = 8;
inline constexpr double kMasterBytes = 4;
// Of a token's logit: FP32.  Source  Megatron-LM, theoretical_memory_usage.py, 2024.
inline constexpr double kLogitBytes = 4;

// --- Time

// Share of the memory's bandwidth that element-wise kernels reach. Assumption; with FP32 passes
// fitted against it (calibration.cc).
inline constexpr double kMemoryEfficiency = 0.8;
// Bytes that Adam reads and writes for each parameter: gradients, moments and master copy in and
// out, weights out.
inline constexpr double kOptimizerBytes = 30;
// Of a step, whatever the job: zeroing, clipping, the host. Assumption.
inline constexpr double kStepOverheadSeconds = 0.012;
// Bytes moved for each logit, forward and backward. Assumption.
inline constexpr double kLogitTraffic = 24;
// Share of a link's nominal rate that collectives reach.
// Source  nccl-tests: 231 of 300 GB/s on 8 x A100, 360 of 450 on 8 x H100; 42.5 of 50 over NDR.
inline constexpr double kScaleUpEfficiency = 0.8;
inline constexpr double kNetworkEfficiency = 0.85;
// Of one step of a collective inside a node. Calibration: 8 x A100 (NVIDIA, nccl-tests).
inline constexpr double kStepLatencySeconds = 1.2e-6;
// Overlapped communication hides behind this share of the compute beside it. Assumption.
inline constexpr double kHiddenShare = 0.8;
// Ranks above which each doubling costs kScaleLoss of the step: stragglers, which no formula here
// sees.  Source  Jiang et al., "MegaScale", NSDI 2024, table 2, the Megatron-LM column.
inline constexpr double kScaleLossFrom = 1024;
inline constexpr double kScaleLoss = 0.02;

// --- Power

// Watts of a GPU that waits, as a share of its limit; share of the rest that training draws; and
// what a server's other parts draw per watt of its GPUs' limits (fans, CPUs, NICs).
// Source  DGX H100 user guide, 2023: 10.2 kW of which 5.6 kW are GPUs; the rest is assumed.
inline constexpr double kIdlePower = 0.14;
inline constexpr double kBusyPower = 0.9;
inline constexpr double kHostPower = 0.4;

}  // namespace weft::outlook
