#pragma once

#include <cstdint>
#include <string>

namespace weft::fabric {

// Parts of a Fabric's spec that predictions and advice read, and no decision about nodes.

// Memory outside the accelerators, such as a CXL pool. It holds the part of the optimizer's state
// that does not fit in GPU memory.
struct PooledMemorySpec {
  std::int64_t bytes_per_gpu = 0;
  std::int64_t bytes_per_second_per_gpu = 0;  // one direction

  friend bool operator==(const PooledMemorySpec&, const PooledMemorySpec&) = default;
};

// How often a part of the fabric fails, and how long it is away. Advice counts with it; no decision
// does.
struct FailureRateSpec {
  std::string level;  // of a whole domain; or "node"
  double per_1000_days = 0;
  double repair_seconds = 0;

  friend bool operator==(const FailureRateSpec&, const FailureRateSpec&) = default;
};
inline constexpr double kMostFailuresPer1000Days = 100'000;  // 100 a day

}  // namespace weft::fabric
