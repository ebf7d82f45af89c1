#pragma once

#include <cmath>
#include <numbers>

#include "operator/base/random.h"

namespace weft::simulate {

// Random numbers of the usual distributions, each from its own definition, so that a seed gives the
// same numbers with every standard library.

inline double Uniform(SplitMix64& random) {  // in [0, 1)
  constexpr double k2To53 = 9007199254740992.0;
  return static_cast<double>(random.Next() >> 11U) / k2To53;
}
inline double Exponential(SplitMix64& random) { return -std::log1p(-Uniform(random)); }  // mean 1
// Mean 0, variance 1.
// Source  Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958.
inline double Normal(SplitMix64& random) {
  const double radius = std::sqrt(2 * Exponential(random));
  return radius * std::cos(2 * std::numbers::pi * Uniform(random));
}

}  // namespace weft::simulate
