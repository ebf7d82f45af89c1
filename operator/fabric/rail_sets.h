#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::fabric {

// The leaves of one node, one per rail; "" if the rail is missing.
using RailLeaves = std::vector<std::string_view>;

inline constexpr std::uint32_t kNoSet = ~std::uint32_t{0};

// Nodes grouped into sets whose nodes share most of their leaves ("scalable units").
struct RailSets {
  std::vector<std::uint32_t> of_node;  // kNoSet if the node has no rail
  std::vector<std::string> names;      // by set: its first leaf and the number of others
  std::vector<int> rails_present;      // by node
};

// How: the distinct lists of leaves are taken in order: most rails first, then most frequent, then
// lexicographically least. A list joins the set that has most of its leaves (on a tie, the
// lexicographically least set). A list with every rail must share more than half of its leaves, so
// that a mis-cabled port does not open a set; a list with missing rails must share one leaf. Any
// other list opens a new set. A set's leaves are those of its first list; later lists add leaves
// for rails that the first one lacks. The result does not depend on the order of `nodes`.
//
// Cost  O(nodes * rails * log nodes).
RailSets GroupByRails(const std::vector<RailLeaves>& nodes);

}  // namespace weft::fabric
