#pragma once

#include <cstddef>
#include <cstdint>

#include "operator/base/random.h"

namespace weft::world {

// A seed for the job or fault with this number: it is the same whichever others of the day are left
// out. Those of neighbours are far from each other, because `seed` + 1 is that of other things.
inline std::uint64_t ByNumber(std::uint64_t seed, std::size_t number) {
  constexpr std::uint64_t kStep = 0xd1342543de82ef95U;  // odd, so that no two are the same
  return SplitMix64(seed + kStep * (number + 1)).Next();
}

}  // namespace weft::world
