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

// How: the distinct leaf lists are taken in order: most rails first, then most frequent, then
// lexicographically least. A list joins the set that holds most of its leaves: more than half of
// them if it has every rail (so a mis-cabled port does not make a set of its own), at least one if
// rails are missing; on a tie the lexicographically least set. Any other list opens a new set. A
// set holds the leaves of the list that opened it, and for that list's missing rails the leaves of
// later members. Independent of the order of `nodes`.
//
// Cost  O(nodes * rails * log nodes).
RailSets GroupByRails(const std::vector<RailLeaves>& nodes);

}  // namespace weft::fabric
