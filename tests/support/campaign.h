#pragma once

#include <cstdint>
#include <cstdlib>

namespace weft::testing {

// How many random instances a property test looks at: `usual`, times WEFT_INSTANCES_TIMES in a
// campaign (tests/run.sh --campaign quality).
inline std::uint64_t Instances(std::uint64_t usual) {
  const char* times = std::getenv("WEFT_INSTANCES_TIMES");
  const std::uint64_t factor = times == nullptr ? 1 : std::strtoull(times, nullptr, 10);
  return usual * (factor == 0 ? 1 : factor);
}

}  // namespace weft::testing
