#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"

namespace weft::placement {

// Whether a worker may stand on the node: it has a slot, and its domain of the required level has
// room for the whole job.
bool MayHold(const Instance& instance, fabric::NodeIndex node);

// Which nodes and domains are interchangeable for one instance: same slots, same wholly-free
// state, same rails, and the same below them. A node of the job's last attempt is like no other.
//
// Cost  O(nodes x log nodes).
class Symmetry {
 public:
  explicit Symmetry(const Instance& instance);

  // Equal for look-alikes of one tier.
  std::uint32_t signature(fabric::Tier tier, fabric::DomainIndex domain) const {
    return signature_[tier][domain];
  }

  // Nodes that an exact search needs to look at, home by home: for each domain of the required
  // level that may hold the job, of look-alike siblings at most as many as there are workers, those
  // with the least names; of look-alike homes beside each other one. Ascending by NodeIndex.
  // Nothing where a home has more than `most`.
  std::vector<std::vector<fabric::NodeIndex>> Representatives(std::size_t most) const;

 private:
  void Collect(fabric::Tier tier, fabric::DomainIndex domain,
               std::vector<fabric::NodeIndex>& kept) const;

  const Instance* instance_;
  std::vector<std::vector<std::uint32_t>> signature_;
  std::vector<std::vector<std::uint32_t>> least_name_;  // of a node with slots, by domain
};

}  // namespace weft::placement
