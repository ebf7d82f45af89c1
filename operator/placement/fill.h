#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "operator/placement/instance.h"

namespace weft::placement {

// Lays workers, taken in a given order, into one domain, from the top of the tree down: into the
// one child that fits them most tightly, else into the largest children first and the last of them
// into the one that fits the rest most tightly. Workers that stand next to each other in the order
// so end up close to each other.
//
// Atoms are kept whole: hard ones always, soft ones as long as there is room to.
// Cost  O(workers x tiers + children visited); children are sorted once per domain and Filler.
class Filler {
 public:
  explicit Filler(const Instance& instance) : instance_(&instance) {
    sorted_.resize(instance.node_tier() + 1);
  }

  struct Order {
    std::vector<std::uint32_t> workers;  // a permutation
    // Extra soft atoms by tier, by worker (tiles of the order); empty where there are none.
    std::vector<std::vector<std::uint32_t>> tiles;
  };

  // nodes[worker]; nothing where the atoms do not fit this way.
  std::optional<std::vector<fabric::NodeIndex>> Fill(fabric::Tier tier, fabric::DomainIndex domain,
                                                     const Order& order);

  // Children of the domain that can take a worker, the one that takes most first; among equals
  // those that are in use already, then by index.
  std::span<const fabric::DomainIndex> Children(fabric::Tier tier, fabric::DomainIndex domain);

 private:
  using Workers = std::span<const std::uint32_t>;
  struct Share {
    fabric::DomainIndex child = 0;
    std::uint64_t room = 0;
    std::vector<std::uint32_t> workers;
  };

  bool Lay(fabric::Tier tier, fabric::DomainIndex domain, Workers workers);
  bool Split(fabric::Tier child_tier, std::span<const fabric::DomainIndex> children,
             Workers workers);
  std::size_t CutBefore(fabric::Tier tier, Workers workers, std::size_t from, std::size_t to,
                        bool soft) const;
  std::size_t TightestFit(fabric::Tier child_tier, std::span<const fabric::DomainIndex> children,
                          std::size_t first, std::uint64_t wanted) const;
  bool Leftover(fabric::Tier child_tier, Workers rest, std::vector<Share>& shares) const;

  const Instance* instance_;
  const Order* order_ = nullptr;
  std::vector<fabric::NodeIndex> nodes_;
  std::vector<std::map<fabric::DomainIndex, std::vector<fabric::DomainIndex>>> sorted_;
};

}  // namespace weft::placement
