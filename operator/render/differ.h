#pragma once

#include <algorithm>
#include <vector>

namespace weft::render {

// Whether the items, at least one, differ in what `of` returns.
template <typename Item, typename Of>
bool Differ(const std::vector<Item>& items, Of of) {
  return std::any_of(items.begin(), items.end(),
                     [&](const Item& one) { return of(one) != of(items.front()); });
}

}  // namespace weft::render
