#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"

namespace weft::placement {

// The number of workers that each domain takes in whole tiles: at tier t in multiples of units[t],
// so that a node with three slots takes none of a tile of four. Units of 1 are the instance's own
// capacities.
//
// Cost  O(nodes) once where a unit is above 1; children are sorted once per domain.
class Rooms {
 public:
  Rooms(const Instance& instance, std::vector<std::uint32_t> units);

  std::uint64_t room(fabric::Tier tier, fabric::DomainIndex domain) const {
    if (plain_) return instance_->capacity(tier, domain);
    if (tier < node_tier_) return room_[tier][domain];
    const std::uint32_t slots = instance_->slots()[domain];
    return slots < node_unit_ ? 0 : slots - slots % node_unit_;
  }

  // Children of the domain that take a worker, the one that takes most first; among equals those
  // that are in use already, then by index.
  std::span<const fabric::DomainIndex> Children(fabric::Tier tier, fabric::DomainIndex domain);

  // The tightest child from `first` on with room for all of `wanted`; children[first] must have
  // room. Index into Children.
  std::size_t TightestFit(fabric::Tier tier, fabric::DomainIndex domain, std::size_t first,
                          std::uint64_t wanted);

  // The median room of the children that a greedy filling with `workers` uses, for each tier below
  // `tier`.
  std::vector<std::uint64_t> Typical(fabric::Tier tier, fabric::DomainIndex domain,
                                     std::uint64_t workers);

 private:
  const Instance* instance_;
  bool plain_ = true;
  fabric::Tier node_tier_;
  std::uint32_t node_unit_ = 1;
  std::vector<std::vector<std::uint64_t>> room_;                       // by tier but the node's
  std::vector<std::vector<std::vector<fabric::DomainIndex>>> sorted_;  // children, tier x domain
  // One number a child: most room first, in use before wholly free, then by index.
  struct Key {
    std::uint64_t less_room_and_free;
    fabric::DomainIndex child;
  };
  std::vector<Key> keys_;  // scratch
};

}  // namespace weft::placement
