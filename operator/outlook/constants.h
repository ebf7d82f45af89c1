#pragma once

namespace weft::outlook {

// The numbers in the formulas that are the same for all accelerators and software, with their
// sources. Numbers fitted to measurements are in calibration.cc; figures of chips are in
// accelerators.cc.

// --- Memory

// Of the memory that the driver reports, the share that training software can use: the driver, ECC
// and the allocator hold the rest. Assumption (operator/docs/outlook.md).
inline constexpr double kUsableMemory = 0.94;
// CUDA context and the buffers of the communication library. Assumption; 1.5 to 3 GB were observed.
inline constexpr double kContextBytes = 1.5e9;
// Share of the activations that the caching allocator loses between blocks. Assumption.
inline constexpr double kFragmentation = 0.03;
// Units that a sharded model gathers at a time: the one in use and the next (prefetch).
// Source  Zhao et al., "PyTorch FSDP", 2023, section 3.3.
inline constexpr double kGatheredUnits = 2;
// Adam's two moments in FP32, and the FP32 copy of the weights.
// Source  Rajbhandari et al., "ZeRO", 2020, section 3.1.
inline constexpr double kMomentBytes = 8;
inline constexpr double kMasterBytes = 4;
// Bytes of one logit: FP32. Source Megatron-LM, theoretical_memory_usage.py, 2024.
inline constexpr double kLogitBytes = 4;

// --- Time

// Share of the memory bandwidth that element-wise kernels reach. Assumption; memory_passes
// (calibration.cc) are fitted with it.
inline constexpr double kMemoryEfficiency = 0.8;
// Bytes that Adam moves for each parameter: it reads and writes gradients, moments and the FP32
// copy, and writes weights.
inline constexpr double kOptimizerBytes = 30;
// Added to the step of any job: zeroing, clipping, the host. Assumption. Only the calibration on
// single layers' traces has another value.
inline constexpr double kStepOverheadSeconds = 0.012;
// Bytes moved for each logit, forward and backward. Assumption.
inline constexpr double kLogitTraffic = 24;
// Share of a link's nominal rate that collectives reach.
// Source  nccl-tests: 231 of 300 GB/s on 8 x A100, 360 of 450 on 8 x H100; 42.5 of 50 over NDR.
inline constexpr double kScaleUpEfficiency = 0.8;
inline constexpr double kNetworkEfficiency = 0.85;
// Latency of one step of a collective inside a node. Calibration: 8 x A100 (NVIDIA, nccl-tests).
inline constexpr double kStepLatencySeconds = 1.2e-6;
// Overlapped communication can hide behind this share of the concurrent compute. Assumption.
inline constexpr double kHiddenShare = 0.8;
// Above this number of ranks, each doubling costs kScaleLoss of the step, because of stragglers,
// which no formula here covers. Source Jiang et al., "MegaScale", NSDI 2024, table 2, the
// Megatron-LM column.
inline constexpr double kScaleLossFrom = 1024;
inline constexpr double kScaleLoss = 0.02;

// --- Power

// Power of an idle GPU, as a share of its limit; share of the rest that training draws; power of a
// server's other parts (fans, CPUs, NICs) per watt of its GPUs' limits.
// Source  DGX H100 user guide, 2023: 10.2 kW of which 5.6 kW are GPUs; the rest is assumed.
inline constexpr double kIdlePower = 0.14;
inline constexpr double kBusyPower = 0.9;
inline constexpr double kHostPower = 0.4;

}  // namespace weft::outlook
