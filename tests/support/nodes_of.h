#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "operator/fabric/tiers.h"

namespace weft::testing {

// The nodes with these numbers.
inline std::vector<fabric::NodeIndex> NodesOf(std::initializer_list<std::uint32_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace weft::testing
