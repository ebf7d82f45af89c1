#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/search/rooms.h"

namespace weft::placement {

// Places workers in a given order into one domain, from the top of the tree down: into the one
// child that fits them most tightly; else into the largest children first, and the rest into
// the child that fits it most tightly. Neighbours in the order therefore end up close to each
// other.
//
// Rooms give the number of workers that a domain takes in whole tiles; remaining workers go to any
// free slots. Hard atoms are never split, soft atoms only if there is no room for them.
// Cost  O(workers x tiers + children visited).
class Filler {
 public:
  Filler(const Instance& instance, Rooms& plain) : instance_(&instance), plain_(&plain) {}

  // `order`: a permutation of the workers. Returns nodes[worker]; nothing if they do not fit.
  std::optional<std::vector<fabric::NodeIndex>> Fill(fabric::Tier tier, fabric::DomainIndex domain,
                                                     std::span<const std::uint32_t> order,
                                                     Rooms& rooms);

 private:
  using Workers = std::span<const std::uint32_t>;
  struct Share {
    fabric::DomainIndex child = 0;
    Workers workers;   // a run of the order
    Workers leftover;  // another, that goes there too
  };

  bool Lay(fabric::Tier tier, fabric::DomainIndex domain, Workers workers);
  bool Split(fabric::Tier tier, fabric::DomainIndex domain, Workers workers);
  bool LayShare(fabric::Tier tier, const Share& share);
  bool Leftover(fabric::Tier tier, fabric::DomainIndex domain, Workers rest,
                std::vector<Share>& shares);
  std::size_t CutBefore(fabric::Tier tier, Workers workers, std::size_t from, std::size_t to,
                        bool soft) const;

  const Instance* instance_;
  Rooms* plain_;
  Rooms* rooms_ = nullptr;
  std::vector<fabric::NodeIndex> nodes_;
};

}  // namespace weft::placement
