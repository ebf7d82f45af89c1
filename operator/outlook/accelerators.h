#pragma once

#include <span>
#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/fabric/partition.h"
#include "operator/fabric/spec.h"
#include "operator/traffic/spec.h"

namespace weft::outlook {

// The vendor's figures of one accelerator.
//
// Units   FLOP/s of dense matrix products (no sparsity) with FP32 accumulation, 0 if the chip has
//         no unit for the precision; bytes; bytes/s; watts.
// Lifetime  The texts of an accelerator that a user added belong to the FabricSpec that it came
//           from, which must outlive it.
struct Accelerator {
  std::string_view name;   // "H100"
  std::string_view words;  // words of product labels: see FindAccelerator
  double fp32 = 0;         // without tensor cores
  double tf32 = 0;
  double bf16 = 0;          // also FP16
  double fp8 = 0;           // also MXFP8
  double fp4 = 0;           // also NVFP4
  double memory_bytes = 0;  // as the driver reports it
  double memory_bytes_per_second = 0;
  double watts = 0;  // power limit of one accelerator
  std::string_view source;
  std::string_view calibrated_as = {};  // whose calibrations it uses; "": its own name's
  // FabricSpec::pooled_memory: what one accelerator may use of it.
  double pooled_bytes = 0, pooled_bytes_per_second = 0;
  // Below 1 for a part of an accelerator: its share of the whole, its links and its price; the
  // figures above are then the part's. The name of the part belongs to the Fabric.
  double share = 1;
  std::string_view partition = {};
};

// "H100", "H100 (MIG 1g.10gb)".
std::string NameOf(const Accelerator& accelerator);

// Makes the figures of a whole accelerator those of its part. What labels do not tell of the share
// follows from the memory. False, without a change, if they tell neither.
bool TakePart(const fabric::Partition& part, std::string_view name, Accelerator& accelerator);

std::span<const Accelerator> KnownAccelerators();

// The accelerator that a product label, an instance type or a plain name means, in any case:
// "NVIDIA-A100-SXM4-40GB", "AMD_Instinct_MI300X_OAM", "tpu-v5p-slice", "p5.48xlarge", "H100". Words
// are runs of letters and digits. An accelerator matches if the label contains all words of one of
// its alternatives; the first match in the table wins. An instance type stands for its accelerator
// (fabric/products.h). `added`: accelerators of the user, which come before those of the table.
//
// Errors  kInvalid; the message names the product and the known accelerators (KnownText).
Result<Accelerator> FindAccelerator(std::string_view product,
                                    std::span<const fabric::AcceleratorSpec> added = {});
// "the nearest known is H100", "the nearest known are H100 and H200", or "known are GB300, GB200,
// ..." if no name is near.
std::string KnownText(std::string_view product,
                      std::span<const fabric::AcceleratorSpec> added = {});

// Errors  kInvalid: "[0].calibratedAs: ..." if the table has no such accelerator, "[1].name:
//         ..." if two accelerators have the same name.
Status CheckAccelerators(std::span<const fabric::AcceleratorSpec> added);

// "H100 has no unit for NVFP4, only for FP32, TF32, FP16, BF16, FP8 and MXFP8".
std::string NoUnitText(const Accelerator& accelerator, traffic::Precision precision);
// Peak rate of one precision; 0 if the accelerator has no unit for it.
double PeakRate(const Accelerator& accelerator, traffic::Precision precision);

}  // namespace weft::outlook
