#pragma once

#include <span>
#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/traffic/spec.h"

namespace weft::outlook {

// What the vendor says one accelerator does.
//
// Units   FLOP/s of dense matrix products (no sparsity) with FP32 accumulation, 0 where the chip
//         has no such unit; bytes; bytes/s; watts.
struct Accelerator {
  std::string_view name;   // "H100"
  std::string_view words;  // of a product's label: see FindAccelerator
  double fp32 = 0;         // no tensor cores
  double tf32 = 0;
  double bf16 = 0;          // and FP16
  double fp8 = 0;           // and MXFP8
  double fp4 = 0;           // and NVFP4
  double memory_bytes = 0;  // as the driver reports it
  double memory_bytes_per_second = 0;
  double watts = 0;  // of one accelerator at its limit
  std::string_view source;
};

std::span<const Accelerator> KnownAccelerators();

// The accelerator that a product's label, an instance type or a plain name means, without regard to
// case: "NVIDIA-A100-SXM4-40GB", "AMD_Instinct_MI300X_OAM", "tpu-v5p-slice", "p5.48xlarge", "H100".
// Words are runs of letters and digits; an accelerator matches where the label holds all words of
// one of its alternatives, and the first in the table wins.
//
// Errors  kInvalid that names the product and the accelerators that are known.
Result<Accelerator> FindAccelerator(std::string_view product);

// Peak rate of one precision; 0 where the accelerator has no unit for it.
double PeakRate(const Accelerator& accelerator, traffic::Precision precision);

}  // namespace weft::outlook
