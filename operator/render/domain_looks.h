#pragma once

#include <cstdint>
#include <vector>

#include "operator/render/domain_count.h"

namespace weft::render {

// How much of a domain is free; lists show domains in this order.
enum class Fill : std::uint8_t { kAllFree, kPartlyFree, kNothingFree };
Fill FillOf(const DomainCount& count);

// Contents of every domain of a fabric, and which domains are equal for display.
class DomainLooks {
 public:
  // Cost  O(nodes x tiers x log nodes).
  explicit DomainLooks(const fabric::Claims& claims);

  const DomainCount& count(fabric::Tier tier, fabric::DomainIndex domain) const {
    return counts_[tier][domain];
  }
  // Equal for two domains of a tier if the domains and nodes below them are equal, in any order:
  // same number, accelerators, free accelerators, and unusable or cordoned state.
  std::uint32_t look(fabric::Tier tier, fabric::DomainIndex domain) const {
    return looks_[tier][domain];
  }

 private:
  fabric::ByTier<fabric::ByDomain<DomainCount>> counts_;
  fabric::ByTier<fabric::ByDomain<std::uint32_t>> looks_;
};

}  // namespace weft::render
