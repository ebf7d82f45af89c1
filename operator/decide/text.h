#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/units.h"
#include "operator/placement/place.h"

namespace weft::decide {

// Parts of sentences for people.

// "1 node", "12 nodes".
std::string CountText(std::int64_t count, std::string_view noun);
// "600 s", "3 h 20 min", "6 d 22 h": the two largest units, rounded up.
std::string DurationText(std::int64_t seconds);
// A cost C(p) as the time that its bytes take one after the other: "12.4 ms", "3.1 s".
std::string LinkTimeText(Int128 femtoseconds);
// "3 nodes: too little nvidia.com/gpu free".
std::string RejectionText(const placement::Unplaceable::Count& count);
// The most frequent few of them, joined by "; "; "" where there is none.
std::string RejectionsText(const std::vector<placement::Unplaceable::Count>& rejections);
// "24 nvidia.com/gpu", "1.5 cpu" (thousandths inside), "16G memory".
std::string AmountText(const std::string& resource, std::int64_t amount);
// 100 x part / whole, saturating; whole > 0. Rounded half up, and up.
std::int64_t PercentOf(Int128 part, Int128 whole);
std::int64_t PercentUp(Int128 part, Int128 whole);

}  // namespace weft::decide
