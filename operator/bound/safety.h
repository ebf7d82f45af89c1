#pragma once

namespace weft::bound {

// A double holds 53 bits; this factor keeps the rounded sums below the exact ones.
inline constexpr double kSafety = 1 - 1e-9;

}  // namespace weft::bound
