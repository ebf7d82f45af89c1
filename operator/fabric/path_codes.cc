#include "operator/fabric/path_codes.h"

#include <algorithm>
#include <bit>

namespace weft::fabric {

PathCodes CodePaths(const ByTier<TierDomains>& domains, std::uint32_t nodes) {
  PathCodes codes;
  const Tier last = domains.EndIndex() - 1;
  ByTier<int> width(last + 1, 0);
  int total = 0;
  for (Tier t{1}; t <= last; ++t) {
    const auto& begin = domains[t - 1].child_begin;
    std::uint32_t most = 0;
    for (DomainIndex d{0}; d + 1 < begin.EndIndex(); ++d)
      most = std::max(most, begin[d + 1] - begin[d]);
    width[t] = most > 1 ? static_cast<int>(std::bit_width(most - 1)) : 0;
    total += width[t];
  }
  if (total > 64) return codes;
  codes.of_node.assign(nodes, 0);
  int low = total;
  for (Tier t{1}; t <= last; ++t) {
    low -= width[t];
    for (int bit = low; bit < low + width[t]; ++bit) {
      codes.parting_tier[static_cast<std::size_t>(bit)] = t - 1;
    }
    const auto& parent_begin = domains[t - 1].child_begin;
    const auto& parent = domains[t - 1].of_node;
    const auto& own = domains[t].of_node;
    if (width[t] == 0) continue;
    for (const NodeIndex n : codes.of_node.Indices()) {
      const std::uint64_t child = own[n] - parent_begin[parent[n]];
      codes.of_node[n] |= child << low;
    }
  }
  return codes;
}

}  // namespace weft::fabric
