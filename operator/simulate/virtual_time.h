#pragma once

#include <cmath>
#include <cstdint>

namespace weft::simulate {

// Time on the virtual clock, in whole microseconds, so that a run is the same on every machine.
using Micros = std::int64_t;
inline constexpr Micros kSecond = 1'000'000;

inline Micros ToMicros(double seconds) {
  return static_cast<Micros>(std::llround(seconds * static_cast<double>(kSecond)));
}
inline double ToSeconds(Micros time) { return static_cast<double>(time) / kSecond; }

}  // namespace weft::simulate
