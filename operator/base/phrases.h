#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "operator/base/units.h"

namespace weft {

// Numbers as parts of sentences for people.

// "1 node", "12 nodes".
std::string CountText(std::int64_t count, std::string_view noun);
// "600 s", "3 h 20 min", "6 d 22 h": the two largest units, rounded up.
std::string DurationText(std::int64_t seconds);
// "131.9 TB", "999 B", "0 B": four significant digits, decimal prefixes.
std::string BytesText(Int128 bytes);
// A cost C(p), which is in femtoseconds: "12.4 ms", "3.1 s".
std::string LinkTimeText(Int128 femtoseconds);
// 100 x part / whole, saturating; whole > 0. The first rounds half up, the second rounds up.
std::int64_t PercentOf(Int128 part, Int128 whole);
std::int64_t PercentUp(Int128 part, Int128 whole);

}  // namespace weft
