#include "operator/objective/box.h"

#include <vector>

namespace weft::objective {

Box BoxAround(const fabric::Torus& torus, std::span<const fabric::NodeIndex> nodes) {
  const fabric::TorusShape& shape = torus.ShapeAround(nodes.front());
  Box box;
  for (std::size_t d = 0; d < box.size.size(); ++d) {
    const std::uint32_t size = shape.sizes()[d];
    std::vector<bool> used(size, false);
    for (const fabric::NodeIndex n : nodes) used[torus.place(n)[d]] = true;
    // For every used place as the start, the length of the box up to the last used place.
    box.size[d] = size + 1;
    for (std::uint32_t from = 0; from < size; ++from) {
      if (!used[from]) continue;
      const std::uint32_t limit = shape.wraps(d) ? size : size - from;
      std::uint32_t length = 1;
      for (std::uint32_t apart = 1; apart < limit; ++apart) {
        if (used[(from + apart) % size]) length = apart + 1;
      }
      const bool whole = shape.wraps(d) || box.size[d] > size;  // else only the first may start
      if (!whole || length >= box.size[d]) continue;
      box.size[d] = length;
      box.at[d] = static_cast<std::uint16_t>(from);
    }
  }
  return box;
}

}  // namespace weft::objective
