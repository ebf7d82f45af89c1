#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::fabric {

// An accelerator that Weft's table (outlook/accelerators.h) lacks, or whose figures it replaces.
//
// Units  FLOP/s of dense matrix products, 0 if the chip has no unit for the precision; bytes;
//        bytes/s; watts.
struct AcceleratorSpec {
  std::string name;
  // A product label means this accelerator if it has all words of one entry. Empty: the only entry
  // is the name.
  std::vector<std::string> products;
  std::int64_t fp32 = 0, tf32 = 0, bf16 = 0, fp8 = 0, fp4 = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t memory_bytes_per_second = 0;
  std::int64_t watts = 0;
  std::string calibrated_as;  // the accelerator of Weft's table whose calibration it uses; "": none
  std::string source;

  friend bool operator==(const AcceleratorSpec&, const AcceleratorSpec&) = default;
};

// Memory outside the accelerators, such as a CXL pool. It holds the part of the optimizer's state
// that does not fit in GPU memory.
struct PooledMemorySpec {
  std::int64_t bytes_per_gpu = 0;
  std::int64_t bytes_per_second_per_gpu = 0;  // one direction

  friend bool operator==(const PooledMemorySpec&, const PooledMemorySpec&) = default;
};

}  // namespace weft::fabric
