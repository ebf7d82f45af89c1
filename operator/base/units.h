#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace weft {

// Bytes of a whole job exceed 2^63 only for absurd input, but a cost (bytes x femtoseconds per
// byte) often does. __extension__ silences -Wpedantic.
__extension__ using Int128 = __int128;

using Seconds = std::chrono::duration<double>;

// Counts of bytes saturate instead of overflowing: a sum of this value means "more than 2^63 - 1".
inline constexpr std::int64_t kSaturated = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? kSaturated : std::numeric_limits<std::int64_t>::min();
}

constexpr std::int64_t SaturatingMultiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a > 0) == (b > 0) ? kSaturated : std::numeric_limits<std::int64_t>::min();
}

}  // namespace weft
