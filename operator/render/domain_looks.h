#pragma once

#include <cstdint>
#include <vector>

#include "operator/render/domain_count.h"

namespace weft::render {

// How much of a domain is free, in the order in which lists show it.
enum class Fill : std::uint8_t { kAllFree, kPartlyFree, kNothingFree };
Fill FillOf(const DomainCount& count);

// What every domain of a fabric holds, and which domains look alike.
class DomainLooks {
 public:
  // Cost  O(nodes x tiers x log nodes).
  explicit DomainLooks(const fabric::Claims& claims);

  const DomainCount& count(fabric::Tier tier, fabric::DomainIndex domain) const {
    return counts_[tier][domain];
  }
  // Equal for two domains of a tier whose domains and nodes below are alike, in any order: as many,
  // with as many accelerators, as many of them free, and unusable or cordoned alike.
  std::uint32_t look(fabric::Tier tier, fabric::DomainIndex domain) const {
    return looks_[tier][domain];
  }

 private:
  std::vector<std::vector<DomainCount>> counts_;
  std::vector<std::vector<std::uint32_t>> looks_;
};

}  // namespace weft::render
