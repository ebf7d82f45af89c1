#include <algorithm>
#include <bit>

#include "operator/fabric/builder.h"

namespace weft::fabric {

// A node's code is the child number on each tier of its path, widest in the highest bits. Trees
// whose paths need more than 64 bits get no codes.
void FabricBuilder::FillPathCodes() {
  const Tier last = fabric_.node_tier();
  ByTier<int> width(last + 1, 0);
  int total = 0;
  for (Tier t{1}; t <= last; ++t) {
    const auto& begin = fabric_.domains_[t - 1].child_begin;
    std::uint32_t most = 0;
    for (DomainIndex d{0}; d + 1 < begin.EndIndex(); ++d)
      most = std::max(most, begin[d + 1] - begin[d]);
    width[t] = most > 1 ? static_cast<int>(std::bit_width(most - 1)) : 0;
    total += width[t];
  }
  if (total > 64) return;
  fabric_.path_codes_.assign(fabric_.node_count(), 0);
  fabric_.parting_tier_.fill(kOutside);
  int low = total;
  for (Tier t{1}; t <= last; ++t) {
    low -= width[t];
    for (int bit = low; bit < low + width[t]; ++bit) {
      fabric_.parting_tier_[static_cast<std::size_t>(bit)] = t - 1;
    }
    const auto& parent_begin = fabric_.domains_[t - 1].child_begin;
    const auto& parent = fabric_.domains_[t - 1].of_node;
    const auto& own = fabric_.domains_[t].of_node;
    for (NodeIndex n = 0; n < fabric_.node_count() && width[t] > 0; ++n) {
      const std::uint64_t child = own[n] - parent_begin[parent[n]];
      fabric_.path_codes_[n] |= child << low;
    }
  }
}

}  // namespace weft::fabric
