#pragma once

#include <string_view>

namespace weft {

// Compares names as people count: digits compare as numbers, so "job-2" comes before "job-10". A
// total order: of "a-01" and "a-1", the same number, the one that is less as text comes first.
// Cost  O(length of the shorter text); copies nothing.
bool NaturalLess(std::string_view a, std::string_view b);

}  // namespace weft
