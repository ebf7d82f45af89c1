#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "operator/base/worker_index.h"
#include "operator/fabric/tiers.h"

namespace weft::testing {

// The nodes with these numbers.
inline std::vector<fabric::NodeIndex> NodesOf(std::initializer_list<std::uint32_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

// Workers 0, 1, ... on the nodes with these numbers.
inline ByWorker<fabric::NodeIndex> WorkersOn(std::initializer_list<std::uint32_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace weft::testing
