#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/search/rooms.h"

namespace weft::placement {

// Lays workers, taken in a given order, into one domain, from the top of the tree down: into the
// one child that fits them most tightly, else into the largest children first and the last of them
// into the one that fits the rest most tightly. Workers that stand next to each other in the order
// so end up close to each other.
//
// Rooms say how many workers a domain takes in whole tiles; what is left over goes where there are
// slots. Atoms are kept whole: hard ones always, soft ones as long as there is room to.
// Cost  O(workers x tiers + children visited).
class Filler {
 public:
  Filler(const Instance& instance, Rooms& plain) : instance_(&instance), plain_(&plain) {}

  // `order`: a permutation of the workers. nodes[worker]; nothing where they do not fit this way.
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
