#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::fabric {

// The leaves of one node, one per rail; "" where the rail is missing.
using RailLeaves = std::vector<std::string_view>;

inline constexpr std::uint32_t kNoSet = ~std::uint32_t{0};

// Nodes grouped into the sets that share most of their leaves ("scalable units").
struct RailSets {
  std::vector<std::uint32_t> of_node;  // kNoSet where the node has no rail at all
  std::vector<std::string> names;      // by set: its first leaf, and how many more
  std::vector<int> rails_present;      // by node
};

// How: the distinct leaf lists, those with most rails first, then the most frequent, then the
// lexicographically least, each join the set that already holds most of their leaves: more than
// half of them for a list with every rail (a mis-cabled port does not make a set of its own), any
// for a list with missing rails; on a tie the lexicographically least set. Others open a set. A set
// holds the leaves of the list that opened it, and for that list's missing rails those of later
// members. Independent of the order of `nodes`.
//
// Cost  O(nodes * rails * log nodes).
RailSets GroupByRails(const std::vector<RailLeaves>& nodes);

}  // namespace weft::fabric
