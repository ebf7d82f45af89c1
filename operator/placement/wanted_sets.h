#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "operator/base/worker_index.h"
#include "operator/fabric/fabric.h"
#include "operator/objective/nodes.h"

namespace weft::placement {

// How little a job wants each node, how many workers each takes, and the nodes that take any, the
// most wanted first.
class Wants {
 public:
  using Slots = IndexSpan<fabric::NodeIndex, const std::uint32_t>;

  // All three must outlive this object. Cost  O(nodes log nodes).
  Wants(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& unwanted, Slots slots);

  const fabric::Fabric& fabric() const { return fabric_; }
  std::uint32_t unwanted(fabric::NodeIndex n) const { return unwanted_[n]; }
  std::uint32_t slots(fabric::NodeIndex n) const { return slots_[n]; }
  const std::vector<fabric::NodeIndex>& order() const { return order_; }

 private:
  const fabric::Fabric& fabric_;
  const fabric::ByNode<std::uint32_t>& unwanted_;
  Slots slots_;
  std::vector<fabric::NodeIndex> order_;
};

// Nodes that hold a job, and how little they are wanted at best: the least sum over the workers of
// any placement on them.
struct NodeChoice {
  std::vector<fabric::NodeIndex> nodes;  // ascending
  std::int64_t sum = 0;
};

// The most wanted nodes among some that just hold the workers; without nodes if they do not.
// Cost  O(nodes), and what `among` costs for each.
using IsAmong = std::function<bool(fabric::NodeIndex)>;
NodeChoice MostWanted(const Wants& wants, const IsAmong& among, std::uint64_t workers);

// Sets of nodes on which a better placement may be found than this one, the least sum first:
//   - the most wanted nodes of the domains that the placement uses, at each level;
//   - of these domains, one of the least wanted replaced by one of the most wanted that it does not
//     use; with the other domains' nodes as they are, and chosen anew;
//   - for each of the least wanted nodes: the other nodes of the placement, and all nodes that are
//     wanted more.
// Cost  O(levels x nodes): about thirty passes over the nodes for each level.
std::vector<NodeChoice> BetterSets(const Wants& wants, objective::Nodes placement);

}  // namespace weft::placement
