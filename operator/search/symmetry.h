#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"

namespace weft::placement {

// Whether a worker may be on the node: it has a slot, and its domain of the required level has room
// for the whole job.
bool MayHold(const Instance& instance, fabric::NodeIndex node);

// Interchangeable nodes and domains of one instance: same slots, same wholly-free state, same
// rails, and the same below. A node of the job's last attempt is interchangeable with no other.
//
// Cost  O(nodes x log nodes).
class Symmetry {
 public:
  explicit Symmetry(const Instance& instance);

  // Equal for look-alikes of one tier.
  std::uint32_t signature(fabric::Tier tier, fabric::DomainIndex domain) const {
    return signature_[tier][domain];
  }

  // The nodes that an exact search must try, for each home (a domain of the required level that may
  // hold the job): at most `workers` of interchangeable siblings, those with the least names, and
  // one of interchangeable neighbouring homes. Ascending by NodeIndex. Nothing if a home has more
  // than `most`.
  std::vector<std::vector<fabric::NodeIndex>> Representatives(std::size_t most) const;

 private:
  void Collect(fabric::Tier tier, fabric::DomainIndex domain,
               std::vector<fabric::NodeIndex>& kept) const;

  const Instance* instance_;
  std::vector<std::vector<std::uint32_t>> signature_;
  std::vector<std::vector<std::uint32_t>> least_name_;  // of the nodes with slots, by domain
};

}  // namespace weft::placement
