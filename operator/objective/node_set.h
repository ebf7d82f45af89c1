#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "operator/fabric/fabric.h"

namespace weft::objective {

// A set of nodes of one fabric, stored as one bit each and visited in tree order.
//
// Cost  O(nodes of the fabric / 64) to make, compare and walk.
class NodeSet {
 public:
  explicit NodeSet(std::size_t fabric_nodes) : words_((fabric_nodes + kBits - 1) / kBits) {}
  NodeSet(std::size_t fabric_nodes, std::span<const fabric::NodeIndex> nodes)
      : NodeSet(fabric_nodes) {
    for (fabric::NodeIndex n : nodes) Insert(n);
  }

  void Insert(fabric::NodeIndex n) {
    words_[n.Raw() / kBits] |= std::uint64_t{1} << (n.Raw() % kBits);
  }

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(fabric::NodeIndex::Of(i * kBits + static_cast<std::size_t>(std::countr_zero(word))));
      }
    }
  }

  friend bool operator==(const NodeSet&, const NodeSet&) = default;

 private:
  static constexpr std::size_t kBits = 64;
  std::vector<std::uint64_t> words_;
};

}  // namespace weft::objective
