#pragma once

#include <string>
#include <vector>

#include "tests/support/fabric_builder.h"

namespace weft::testing {

// One flat network with a torus of so many nodes along each dimension, the first fastest: node K
// has accelerators free where free[K] says so.
inline FabricShape TorusOf(const std::vector<std::uint32_t>& sizes, const std::vector<bool>& free,
                           bool wraps = true) {
  FabricShape shape;
  shape.levels.clear();
  for (const std::uint32_t size : sizes) shape.torus.push_back({"", size, wraps});
  for (std::size_t k = 0; k < free.size(); ++k) {
    TestNode node;
    node.name = Numbered("n", k, free.size());
    std::size_t rest = k;
    for (const std::uint32_t size : sizes) {
      node.torus.push_back(static_cast<int>(rest % size));
      rest /= size;
    }
    node.used = free[k] ? 0 : node.accelerators;
    shape.nodes.push_back(std::move(node));
  }
  return shape;
}

}  // namespace weft::testing
