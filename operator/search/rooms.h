#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"

namespace weft::search {

// The number of workers that each domain takes in whole tiles: at tier t, a multiple of units[t]. A
// node with three slots has no room for a tile of four. With units of 1, rooms are the instance's
// capacities.
//
// Cost  O(nodes) once if a unit is above 1; the children of a domain are sorted once.
class Rooms {
 public:
  Rooms(const objective::Instance& instance, fabric::ByTier<std::uint32_t> units);

  std::uint64_t room(fabric::Tier tier, fabric::DomainIndex domain) const {
    if (plain_) return instance_->capacity(tier, domain);
    if (tier < node_tier_) return room_[tier][domain];
    const std::uint32_t slots = instance_->slots()[AsNode(domain)];
    return slots < node_unit_ ? 0 : slots - slots % node_unit_;
  }

  // Children of the domain with room for a worker, roomiest first; among equals, those already in
  // use come first, then the lower index.
  std::span<const fabric::DomainIndex> Children(fabric::Tier tier, fabric::DomainIndex domain);

  // The index in Children of the least roomy child, from `first` on, that has room for `wanted`
  // workers. Precondition: children[first] has room for them.
  std::size_t TightestFit(fabric::Tier tier, fabric::DomainIndex domain, std::size_t first,
                          std::uint64_t wanted);

  // For each tier below `tier`, the median room of the children that a greedy placement of
  // `workers` workers would use.
  std::vector<std::uint64_t> Typical(fabric::Tier tier, fabric::DomainIndex domain,
                                     std::uint64_t workers);

 private:
  const objective::Instance* instance_;
  bool plain_ = true;
  fabric::Tier node_tier_;
  std::uint32_t node_unit_ = 1;
  fabric::ByTier<fabric::ByDomain<std::uint64_t>> room_;  // by tier, except the node
  fabric::ByTier<fabric::ByDomain<std::vector<fabric::DomainIndex>>>
      sorted_;  // children, tier x domain
  // A sort key of a child: most room first, in use before wholly free, then by index.
  struct Key {
    std::uint64_t less_room_and_free;
    fabric::DomainIndex child;
  };
  std::vector<Key> keys_;  // scratch
};

}  // namespace weft::search
