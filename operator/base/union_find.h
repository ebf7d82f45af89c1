#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace weft {

// Disjoint sets over 0, 1, ..., size - 1; the root of a set is its least member, whatever the order
// of the joins.
//
// Cost    O(log size) a call, amortised; memory linear in size.
// Source  path halving: Tarjan and van Leeuwen, "Worst-case Analysis of Set Union Algorithms",
//         Journal of the ACM, 1984.
class UnionFind {
 public:
  explicit UnionFind(std::uint32_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }

  std::uint32_t Find(std::uint32_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }

  void Join(std::uint32_t x, std::uint32_t y) {
    x = Find(x);
    y = Find(y);
    parent_[std::max(x, y)] = std::min(x, y);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace weft
