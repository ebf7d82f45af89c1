#pragma once

#include <cstdint>

namespace weft {

// A small deterministic generator: the same seed gives the same numbers on every machine. For
// generated clusters and simulations, never for secrets.
//
// Source  Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014;
//         constants of the public-domain reference splitmix64.c (Vigna, 2015).
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  // A random number below `count`, or 0 if count is 0. The bias is below count / 2^64.
  std::uint64_t Below(std::uint64_t count) { return count == 0 ? 0 : Next() % count; }

 private:
  std::uint64_t state_;
};

}  // namespace weft
