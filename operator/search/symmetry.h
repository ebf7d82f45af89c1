#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"

namespace weft::search {

// Whether the node may hold a worker: it has a free slot, and its domain of the required level has
// room for the whole job.
bool MayHold(const objective::Instance& instance, fabric::NodeIndex node);

// Interchangeable nodes and domains of one instance: they have the same slots, wholly-free state,
// PairCost::stand and children. A node of the job's last attempt is not interchangeable with any
// other.
//
// Cost  O(nodes x log nodes).
class Symmetry {
 public:
  explicit Symmetry(const objective::Instance& instance);

  // Equal for interchangeable domains of one tier.
  std::uint32_t signature(fabric::Tier tier, fabric::DomainIndex domain) const {
    return signature_[tier][domain];
  }

  // The nodes that an exact search must try, for each home (a domain of the required level that
  // may hold the job), ascending. Of interchangeable siblings, as many are kept as the job has
  // workers, those with the least names; of interchangeable neighbouring homes, only one is kept.
  // Empty if a home has more than `most` nodes.
  std::vector<std::vector<fabric::NodeIndex>> Representatives(std::size_t most) const;

 private:
  void Collect(fabric::Tier tier, fabric::DomainIndex domain,
               std::vector<fabric::NodeIndex>& kept) const;

  const objective::Instance* instance_;
  fabric::ByTier<fabric::ByDomain<std::uint32_t>> signature_;
  fabric::ByTier<fabric::ByDomain<std::uint32_t>>
      least_name_;  // of the nodes with slots, by domain
};

}  // namespace weft::search
