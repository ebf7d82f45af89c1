#pragma once

#include <string>

namespace weft::fabric {

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
