#include "operator/fabric/fabric.h"

#include <algorithm>

namespace weft::fabric {

std::optional<Tier> Fabric::FindTier(const std::string& name) const {
  for (Tier tier{0}; tier < tiers_.EndIndex(); ++tier) {
    if (tiers_[tier].name == name) return tier;
  }
  return std::nullopt;
}

Tier Fabric::SlowSharedTier(NodeIndex a, NodeIndex b) const {
  Tier tier = node_tier();
  while (tier > kOutside && domains_[tier].of_node[a] != domains_[tier].of_node[b]) --tier;
  return tier;
}

std::optional<NodeIndex> Fabric::FindNode(const std::string& name) const {
  const auto found =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [&](NodeIndex n, const std::string& key) { return node(n).name < key; });
  if (found == by_name_.end() || node(*found).name != name) return std::nullopt;
  return *found;
}

std::optional<ResourceIndex> Fabric::FindResource(const std::string& name) const {
  const auto found = std::lower_bound(resources_.begin(), resources_.end(), name);
  if (found == resources_.end() || *found != name) return std::nullopt;
  return ResourceIndex::Of(found - resources_.begin());
}

}  // namespace weft::fabric
