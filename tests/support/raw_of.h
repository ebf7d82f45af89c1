#pragma once

#include <cstdint>
#include <vector>

namespace weft::testing {

// The numbers of a list of indexes, to compare with a list of numbers.
template <typename Indexes>
std::vector<std::uint32_t> RawOf(const Indexes& indexes) {
  std::vector<std::uint32_t> numbers;
  for (const auto index : indexes) numbers.push_back(index.Raw());
  return numbers;
}

}  // namespace weft::testing
