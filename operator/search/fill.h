#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/search/rooms.h"

namespace weft::search {

// Places workers in a given order into one domain, from the top of the tree down. They all go into
// the child with the tightest fit; if no child holds all, they fill the largest children first, and
// the rest goes into the child with the tightest fit. Neighbours in the order are therefore placed
// close to each other.
//
// Rooms give the number of workers that a domain takes in whole tiles; remaining workers go to any
// free slots. Hard atoms are never split; soft atoms are split only if no child has room for them.
// Cost  O(workers x tiers + children visited).
class Filler {
 public:
  Filler(const objective::Instance& instance, Rooms& plain)
      : instance_(&instance), plain_(&plain) {}

  // `order`: a permutation of the workers. Returns the node of each worker, or nothing if they do
  // not fit.
  std::optional<ByWorker<fabric::NodeIndex>> Fill(fabric::Tier tier, fabric::DomainIndex domain,
                                                  std::span<const WorkerIndex> order, Rooms& rooms);

 private:
  using Workers = std::span<const WorkerIndex>;
  struct Share {
    fabric::DomainIndex child{0};
    Workers workers;   // a run of the order
    Workers leftover;  // a second run for the same child
  };

  bool Lay(fabric::Tier tier, fabric::DomainIndex domain, Workers workers);
  bool Split(fabric::Tier tier, fabric::DomainIndex domain, Workers workers);
  bool LayShare(fabric::Tier tier, const Share& share);
  bool Leftover(fabric::Tier tier, fabric::DomainIndex domain, Workers rest,
                std::vector<Share>& shares);
  std::size_t CutBefore(fabric::Tier tier, Workers workers, std::size_t from, std::size_t to,
                        bool soft) const;

  const objective::Instance* instance_;
  Rooms* plain_;
  Rooms* rooms_ = nullptr;
  ByWorker<fabric::NodeIndex> nodes_;
};

}  // namespace weft::search
